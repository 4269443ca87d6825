"""The small parts: the log's line, the pauses, the doctor's rows, the state file."""

import os
from pathlib import Path

import pytest

from trireme.errors import ServerError
from trireme.serving import doctor, hardware
from trireme.serving.backoff import Backoff
from trireme.serving.doctor import FAIL, OK, WARN, diagnose
from trireme.serving.ports import bind
from trireme.serving.state import _require_private
from trireme.serving.triton_log import last_error


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", "its log is empty"),
        ('I1130 06:47:27.557120 23536 server.cc:345] "fine"\n', 'I1130 06:47:27.557120 23536 server.cc:345] "fine"'),
        (
            'I1130 06:47:27.5 23 a.cc:1] "x"\nE1130 06:47:27.6 23 main.cc:535] "failed to stop"\n'
            'I1130 06:47:27.7 23 b.cc:2] "an error count of 0"\n',
            'main.cc:535] "failed to stop"',
        ),
        ("tritonserver: error while loading shared libraries: libre2.so", "shared libraries: libre2.so"),
    ],
    ids=["empty", "no error", "Triton's own error", "the loader's error"],
)
def test_the_log_gives_the_last_line_about_an_error(tmp_path: Path, content: str, line: str) -> None:
    log = tmp_path / "triton.log"
    log.write_text(content)
    assert last_error(log).endswith(line.removeprefix("I1130 06:47:27.557120 23536 "))


def test_a_missing_log_is_as_an_empty_one(tmp_path: Path) -> None:
    assert last_error(tmp_path / "none") == "its log is empty"


def test_three_tries_are_free_and_then_the_pauses_double_and_are_forgotten() -> None:
    now = [0.0]
    backoff = Backoff(lambda: now[0])
    pauses = []
    for _ in range(7):
        begin = now[0]
        while not backoff.is_due("encoder"):
            now[0] += 0.5
        pauses.append(now[0] - begin)
        backoff.count("encoder")
    assert pauses == [0, 0, 0, 1, 2, 4, 8]
    assert backoff.is_due("tokenizer")
    now[0] += 1000
    assert backoff.is_due("encoder")


def test_every_row_of_the_doctor_has_a_status_and_every_bad_one_a_remedy() -> None:
    rows = diagnose()
    assert {"Python", "glibc", "Triton", "/dev/shm", "port 8000", "cores", "AMX BF16", "memory", "docker"} <= {
        row.name for row in rows
    }
    for row in rows:
        assert row.status in {OK, WARN, FAIL}
        assert row.found
        assert row.remedy or row.status == OK


def test_the_doctor_sees_a_port_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        listener = bind("127.0.0.1", 8001, "--grpc-port")
    except Exception:
        pytest.skip("somebody else is on 8001")
    with listener:
        (row,) = [row for row in diagnose() if row.name == "port 8001"]
    assert (row.status, row.found) == (WARN, "in use")
    assert "--grpc-port" in row.remedy


def test_a_check_that_cannot_look_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> None:
        raise FileNotFoundError("/dev/shm")

    monkeypatch.setattr(doctor.shutil, "disk_usage", broken)
    rows = {row.name: row for row in diagnose()}
    assert rows["shared_memory"].status == WARN
    assert rows["Python"].status == OK


def test_the_cgroups_memory_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, used = tmp_path / "max", tmp_path / "current"
    limit.write_text(f"{3 << 30}\n")
    used.write_text(f"{2 << 30}\n")
    monkeypatch.setattr(hardware, "_USED", {limit: used})
    (row,) = hardware.memory()
    assert (row.status, row.found) == (WARN, "1.0 GiB left by the cgroup's limit")


def test_a_state_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    folder = tmp_path / "trireme"
    folder.mkdir()
    os.chown(folder, 12345, -1)
    with pytest.raises(ServerError, match="not this user's own folder"):
        _require_private(folder)


def test_a_state_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with pytest.raises(ServerError, match="not this user's own folder"):
        _require_private(link)
