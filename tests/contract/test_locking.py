"""The lock of what builds a pipeline, between real processes: who waits, who is refused, and who died."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from trireme.contract.locking import building
from trireme.errors import BusyError, NameRefusedError

_HOLDER = """
import sys, time
from pathlib import Path
from trireme.contract.locking import building
with building(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    time.sleep(float(sys.argv[3]))
"""
_CROWD = """
import sys
from pathlib import Path
from trireme.contract.locking import building
root = Path(sys.argv[1])
for _ in range(6):
    with building(root, "sentiment", 60):
        with (root.parent / "inside").open("x"):
            pass
        (root.parent / "inside").unlink()
"""


@contextmanager
def held(root: Path, pipeline: str, seconds: float = 60) -> Iterator[subprocess.Popen[str]]:
    """A process that builds a pipeline for so long."""
    command = [sys.executable, "-c", _HOLDER, str(root), pipeline, str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_busy_pipeline_is_told_at_once_and_by_whom_it_is_held(tmp_path: Path) -> None:
    with held(tmp_path / "models", "sentiment") as holder:
        start = time.monotonic()
        refusal = rf"pipeline 'sentiment': .*\(process {holder.pid} on .+\); wait for it to end with --wait"
        with pytest.raises(BusyError, match=refusal), building(tmp_path / "models", "sentiment"):
            pass
        assert time.monotonic() - start < 1


def test_another_pipeline_of_the_same_repository_is_not_busy(tmp_path: Path) -> None:
    with held(tmp_path, "sentiment"), building(tmp_path, "ner"):
        assert sorted(path.name for path in tmp_path.iterdir()) == [".ner.lock", ".sentiment.lock"]


def test_who_waits_is_told_for_whom_and_how_long_it_took(tmp_path: Path) -> None:
    spoken: list[str] = []
    with held(tmp_path, "sentiment", 1) as holder, building(tmp_path, "sentiment", 30, spoken.append):
        first, second = spoken
    assert first.startswith(f"pipeline 'sentiment' is busy (process {holder.pid} on ")
    assert first.endswith("waiting up to 30 s")
    words = second.split(" s for ")
    assert words[1] == "pipeline 'sentiment'"
    assert 0.2 <= float(words[0].removeprefix("waited ")) < 20


def test_who_waited_in_vain_is_refused(tmp_path: Path) -> None:
    with (
        held(tmp_path, "sentiment"),
        pytest.raises(BusyError, match="it did not end within 1 s"),
        building(tmp_path, "sentiment", 1),
    ):
        pass


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    with held(tmp_path / "models", "sentiment") as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert (tmp_path / "models/.sentiment.lock").exists()
        with building(tmp_path / "models", "sentiment"):
            pass
    assert list((tmp_path / "models").iterdir()) == []


def test_only_one_of_many_that_wait_is_inside(tmp_path: Path) -> None:
    """Each of them makes and removes the lock's file and the repository, which nobody may take for another's."""
    crowd = [subprocess.Popen([sys.executable, "-c", _CROWD, str(tmp_path / "models")]) for _ in range(3)]
    assert [process.wait(timeout=120) for process in crowd] == [0, 0, 0]


def test_nothing_remains_of_a_lock(tmp_path: Path) -> None:
    with building(tmp_path / "models", "sentiment"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_none_locks_nothing(tmp_path: Path) -> None:
    with pytest.raises(NameRefusedError), building(tmp_path, "../sentiment"):
        pass
    assert list(tmp_path.iterdir()) == []
