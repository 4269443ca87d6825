"""The private folder of one Triton, and the sweeping of those whose owner was killed."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from trireme.serving.process import clear

_PREFIX = "trireme-triton-"
_LOCK_NAME = "owner.lock"


class Workspace:
    """A folder that is this process's for as long as it lives: the kernel lets go of its lock, however it ends."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # Locked under another name, so that nobody ever finds the lock open.
        unseen = self.folder / f"{_LOCK_NAME}.new"
        self._handle = os.open(unseen, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        unseen.rename(self.folder / _LOCK_NAME)

    def remove(self) -> None:
        """Remove the folder. Safe to call twice."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def sweep() -> None:
    """Remove what servers left whose command was killed: their Triton, stubs, shared memory and folders."""
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK_NAME}"):
        if _is_ours(lock.parent):
            _sweep(lock)


def _is_ours(folder: Path) -> bool:
    try:
        return folder.lstat().st_uid == os.getuid()
    except FileNotFoundError:
        return False


def _sweep(lock: Path) -> None:
    try:
        handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return  # gone meanwhile
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # its owner lives
    else:
        clear(lock.parent.name)
        shutil.rmtree(lock.parent, ignore_errors=True)
    finally:
        os.close(handle)
