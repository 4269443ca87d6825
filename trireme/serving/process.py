"""Triton's processes: how they are started, and how they end together with their shared memory."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from trireme.serving import apart
from trireme.serving.launch import DRAIN_TIMEOUT_S, Launch

_KILL_TIMEOUT_S = 10.0
_POLL_S = 0.05
_IDLE_S = 1.5
_SHARED_MEMORY = Path("/dev/shm")
# The kernel's death signal follows the thread that started a process: this one lives as long as the whole of us.
_spawner = ThreadPoolExecutor(1, "trireme-spawner")


def spawn(launch: Launch) -> subprocess.Popen[bytes]:
    """Start Triton in a process group of its own, out of Ctrl-C's reach; the kernel ends it should this process die."""
    spawned = _spawner.submit(_spawn, launch)
    try:
        return spawned.result()
    except KeyboardInterrupt:
        process = spawned.result()
        process.kill()
        process.wait()
        raise


def _spawn(launch: Launch) -> subprocess.Popen[bytes]:
    with launch.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-IS", apart.__file__, str(os.getpid()), *launch.arguments()],
            env=launch.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def drain(process: subprocess.Popen[bytes]) -> None:
    """Ask Triton to end, and give its requests in flight the time to be answered.

    A model whose stub died under a request never unloads, and Triton would wait for it until its time is over: without
    a stub nothing is left to answer.
    """
    process.terminate()
    start = busy = time.monotonic()
    while process.poll() is None and (now := time.monotonic()) - start < DRAIN_TIMEOUT_S + _IDLE_S:
        if stubs_of(process.pid):
            busy = now
        if now - busy > _IDLE_S:
            return
        time.sleep(_POLL_S)


def end(process: subprocess.Popen[bytes], launch: Launch) -> None:
    """Kill Triton, if it still runs, and all that it left behind: stubs and shared memory."""
    process.kill()
    process.wait()
    clear(launch.backends, launch.region_prefix)


def clear(backends: Path, region_prefix: str) -> None:
    """Kill whatever runs with a backend directory, its Triton's parent alive or not, and remove its shared memory."""
    deadline = time.monotonic() + _KILL_TIMEOUT_S
    while (left := _running_with(backends)) and time.monotonic() < deadline:
        for process in left:
            _kill(process)
        time.sleep(_POLL_S)
    for region in _SHARED_MEMORY.glob(f"{region_prefix}*"):
        region.unlink(missing_ok=True)


def _running_with(backends: Path) -> list[psutil.Process]:
    """Found by command line: the stubs of a Triton that was killed are nobody's children. Zombies have none."""
    processes = psutil.process_iter(["cmdline"])
    return [each for each in processes if any(str(backends) in argument for argument in each.info["cmdline"] or [])]


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return


def stubs_of(pid: int) -> list[psutil.Process]:
    """The Python backend's living stub processes of a Triton."""
    try:
        return [child for child in psutil.Process(pid).children(recursive=True) if is_stub(child)]
    except psutil.NoSuchProcess:
        return []


def model_of(stub: psutil.Process) -> str:
    """The model that a stub serves; empty for one that is dying, whose command line is already gone."""
    return _path_part(stub, -3)


def version_of(stub: psutil.Process) -> str:
    """The version of it; empty likewise."""
    return _path_part(stub, -2)


def _path_part(stub: psutil.Process, place: int) -> str:
    try:
        return Path(stub.cmdline()[1]).parts[place]
    except (IndexError, psutil.Error):
        return ""


def is_stub(process: psutil.Process) -> bool:
    """Whether a process is a living stub; a dead one that Triton has not reaped is not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE and "python_backend_stub" in " ".join(process.cmdline()[:1])
    except psutil.Error:
        return False
