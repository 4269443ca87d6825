"""Commands on one pipeline exclude each other; a lock dies with its process, however that ends."""

import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trireme.contract.pipelines import require_spelling
from trireme.errors import BusyError

_LOOK_S = 0.2
Progress = Callable[[str], None]


@contextmanager
def exclusive(folder: Path, pipeline: str) -> Iterator[None]:
    """Hold the lock of the moves of a pipeline, whose folder exists.

    Raises:
        BusyError: another process holds it.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not _has_lock(handle):
            raise BusyError(pipeline, f"it holds the lock on {folder}")
        yield
    finally:
        os.close(handle)


@contextmanager
def building(root: Path, pipeline: str, wait_s: float = 0.0, progress: Progress = lambda line: None) -> Iterator[None]:
    """Hold the lock of what builds a pipeline's releases. Other pipelines of the repository can be built meanwhile.

    A pipeline that is busy is refused at once, or waited for, and `progress` is told how long it took.
    The lock is a hidden file beside the pipeline's folders, which need not exist yet. A repository that is missing is
    made, and removed again where nothing was put into it.

    Raises:
        BusyError: another process is building the pipeline, and still is after `wait_s` seconds.
        NameRefusedError: no pipeline can have this name.
        OSError: the repository may not be written to.
    """
    require_spelling(pipeline)
    path = root / f".{pipeline}.lock"
    existed = root.exists()
    try:
        handle = _wait_for(path, pipeline, wait_s, progress)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
            os.close(handle)
    finally:
        if not existed:
            with suppress(OSError):  # it holds a release now, or another command's lock
                root.rmdir()


def _wait_for(path: Path, pipeline: str, wait_s: float, progress: Progress) -> int:
    """The open file that carries the lock; closing it gives the lock back."""
    start = time.monotonic()
    handle = _take(path)
    if handle is None and wait_s:
        progress(f"pipeline '{pipeline}' is busy ({_holder(path)}): waiting up to {wait_s:g} s")
    while handle is None:
        waited = time.monotonic() - start
        if waited >= wait_s:
            remedy = f"it did not end within {waited:.0f} s" if wait_s else "wait for it to end with --wait"
            raise BusyError(pipeline, _holder(path), remedy)
        time.sleep(_LOOK_S)
        handle = _take(path)
    if time.monotonic() - start >= _LOOK_S:
        progress(f"waited {time.monotonic() - start:.1f} s for pipeline '{pipeline}'")
    return handle


def _take(path: Path) -> int | None:
    """Open and lock a file; None while another process has it."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # the command that made the repository has just removed it
            continue
        if not _has_lock(handle):
            os.close(handle)
            return None
        if _is_same(handle, path):
            _sign(handle)
            return handle
        os.close(handle)


def _has_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sign(handle: int) -> None:
    """Say who holds the lock, for others to read; on a full disk nobody can."""
    with suppress(OSError):
        os.truncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}".encode())


def _is_same(handle: int, path: Path) -> bool:
    """Whether the locked file still stands at its path: its last holder may have removed it after we had opened it."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _holder(path: Path) -> str:
    """Who holds the lock, as it has signed."""
    with suppress(OSError):
        return path.read_text(encoding="utf-8") or "it has just begun"
    return "it has just ended"
