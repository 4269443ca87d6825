"""Starting, supervising and ending Triton."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from serving import Server, ServerSpec, start
from serving.process import stubs_of
from text_runtime.manifest import sha256_of
from trireme.client import Address, infer
from trireme.errors import IntegrityError, PortError, RepositoryError, ServerError


def orphaned_regions() -> set[str]:
    """Shared-memory segments that belong to no running server; other tests have servers of their own."""
    commands = [" ".join(process.cmdline()) for process in psutil.process_iter() if _is_triton(process)]
    names = {path.name for path in Path("/dev/shm").glob("trireme-*")}
    return {name for name in names if not any(name[: len("trireme-12345678")] in command for command in commands)}


def _is_triton(process: psutil.Process) -> bool:
    try:
        return process.name() == "tritonserver"
    except psutil.NoSuchProcess:
        return False


def answer_again(server: Server, within_s: float) -> float:
    """Seconds until the pipeline answers."""
    begin = time.monotonic()
    while time.monotonic() - begin < within_s:
        try:
            infer(Address(server.grpc_url, is_grpc=True), "sentiment", ["好"])
        except Exception:
            time.sleep(0.05)
        else:
            return time.monotonic() - begin
    raise AssertionError(f"no answer within {within_s} s")


def test_nothing_is_left_after_stop(repository: Path) -> None:
    before = orphaned_regions()
    server = start(ServerSpec(repository, 0, 0, 0))
    family = [psutil.Process(server.pid), *stubs_of(server.pid)]
    assert len(family) == 4
    server.stop()
    assert not any(process.is_running() for process in family)
    assert orphaned_regions() <= before


@pytest.mark.parametrize("step", ["tokenizer", "encoder", "postprocess"])
def test_a_killed_step_answers_again_within_five_seconds(repository: Path, step: str) -> None:
    with start(ServerSpec(repository, 0, 0, 0)) as server:
        (stub,) = [stub for stub in stubs_of(server.pid) if f"sentiment_{step}/" in stub.cmdline()[1]]
        stub.kill()
        assert answer_again(server, within_s=5) < 5


def test_a_killed_triton_is_started_again(repository: Path) -> None:
    with start(ServerSpec(repository, 0, 0, 0)) as server:
        orphans = stubs_of(server.pid)
        os.kill(server.pid, signal.SIGKILL)
        time.sleep(0.5)
        answer_again(server, within_s=20)
        assert not any(stub.is_running() for stub in orphans)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_cleanly_on_a_signal(repository: Path, ending: signal.Signals) -> None:
    command = [sys.executable, "-m", "trireme", "serve", "-r", str(repository)]
    ports = ["--http-port", "0", "--grpc-port", "0", "--metrics-port", "0"]
    with subprocess.Popen([*command, *ports], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready: HTTP 127.0.0.1:")
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(ending)
        assert process.wait(30) == 0
    psutil.wait_procs(family, timeout=5)
    assert not any(child.is_running() for child in family)


def test_a_signal_while_starting_leaves_nothing(repository: Path) -> None:
    command = [sys.executable, "-m", "trireme", "serve", "-r", str(repository)]
    ports = ["--http-port", "0", "--grpc-port", "0", "--metrics-port", "0"]
    before = orphaned_regions()
    with subprocess.Popen([*command, *ports]) as process:
        family: list[psutil.Process] = []
        while not family:
            family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    _, alive = psutil.wait_procs(family, timeout=5)
    assert not alive
    assert orphaned_regions() <= before


def test_triton_and_its_steps_die_with_a_killed_command(repository: Path) -> None:
    command = [sys.executable, "-m", "trireme", "serve", "-r", str(repository)]
    ports = ["--http-port", "0", "--grpc-port", "0", "--metrics-port", "0"]
    with subprocess.Popen([*command, *ports], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive


def test_a_busy_port_is_named_with_its_option(repository: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(PortError, match=rf"port {port} is already in use.*--grpc-port"):
            start(ServerSpec(repository, 0, port, 0))


def test_an_empty_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="holds no pipeline"):
        ServerSpec(tmp_path)


def test_a_pin_to_a_release_that_is_not_there_is_refused(repository: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(repository, tmp_path / "copy")
    shutil.rmtree(copy / "sentiment" / "1")
    with pytest.raises(RepositoryError, match="pins release 1, which is not on disk"):
        ServerSpec(copy)


def test_a_changed_file_is_found_before_triton_starts(repository: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(repository, tmp_path / "copy")
    with (copy / "sentiment_encoder" / "1" / "model.onnx").open("ab") as model:
        model.write(b"!")
    with pytest.raises(IntegrityError, match="model.onnx"):
        start(ServerSpec(copy, 0, 0, 0))


def test_a_step_that_does_not_load_is_named_with_the_reason(repository: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(repository, tmp_path / "copy")
    labels = copy / "sentiment_postprocess" / "1" / "labels.json"
    honest = sha256_of(labels)
    labels.write_text('{"labels": ["one"], "activation": "softmax"}')
    for manifest in copy.glob("*/1/manifest.json"):  # a release that was made like this
        manifest.write_text(manifest.read_text().replace(honest, sha256_of(labels)))
    before = orphaned_regions()
    with pytest.raises(ServerError, match=r"'sentiment_postprocess' version 1 does not load: .*1 labels .* 2 columns"):
        start(ServerSpec(copy, 0, 0, 0))
    assert orphaned_regions() <= before
