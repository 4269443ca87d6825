"""Commands on one folder exclude each other; the lock dies with its process."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trireme.errors import BusyError


@contextmanager
def exclusive(folder: Path, pipeline: str) -> Iterator[None]:
    """Hold the lock on a folder that exists. The kernel releases it when the process ends, however it ends.

    Raises:
        BusyError: another process holds it.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BusyError(pipeline, f"it holds the lock on {folder}") from error
    else:
        yield
    finally:
        os.close(handle)
