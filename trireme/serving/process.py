"""Triton's processes: how they are started, and how they end together with their shared memory."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil

from trireme.serving import process_group
from trireme.serving.launch import Launch, names_region

_KILL_TIMEOUT_S = 10.0
_POLL_S = 0.05
_FIRST_PROCESS = 1
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
    with ExitStack() as stack:
        log = stack.enter_context(launch.log.open("ab")) if launch.log else None
        return subprocess.Popen(
            [sys.executable, "-IS", process_group.__file__, str(os.getpid()), *launch.arguments()],
            env=launch.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def drain(process: subprocess.Popen[bytes], deadline: float, idle_s: float) -> None:
    """Ask Triton to end, and give its requests in flight the time to be answered.

    A model whose stub died under a request never unloads, and Triton would wait for it until its time is over: without
    a stub nothing is left to answer.
    """
    process.terminate()
    busy = time.monotonic()
    while process.poll() is None and (now := time.monotonic()) < deadline + idle_s:
        if stubs_of(process.pid):
            busy = now
        if now - busy > idle_s:
            return
        time.sleep(_POLL_S)


def end(process: subprocess.Popen[bytes], launch: Launch) -> int:
    """Kill Triton, if it still runs, and all that it left behind: stubs and shared memory; gives its exit code."""
    process.kill()
    code = process.wait()
    clear(launch.region_prefix)
    return code


def clear(region_prefix: str) -> None:
    """Kill whatever runs with a prefix of regions, its Triton's parent alive or not, and remove its shared memory."""
    deadline = time.monotonic() + _KILL_TIMEOUT_S
    while (left := _running_with(region_prefix)) and time.monotonic() < deadline:
        for process in left:
            _kill(process)
        time.sleep(_POLL_S)
    for region in _SHARED_MEMORY.glob(f"{region_prefix}*"):
        region.unlink(missing_ok=True)
    if os.getpid() == _FIRST_PROCESS:
        _reap_orphans()


def _reap_orphans() -> None:
    """The first process of a container inherits the stubs of a Triton that was killed, and nobody else buries them.

    It has no other children than these while Triton is gone.
    """
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _running_with(region_prefix: str) -> list[psutil.Process]:
    """Found by command line: the stubs of a Triton that was killed are nobody's children. Zombies have none."""
    processes = psutil.process_iter(["cmdline"])
    return [each for each in processes if any(names_region(word, region_prefix) for word in each.info["cmdline"] or [])]


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
