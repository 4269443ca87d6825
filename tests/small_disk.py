"""A file system that is soon full."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, mebibytes: int, is_held: bool = False) -> Iterator[Path]:
    """A folder in `folder` on a file system of its own size; the test is skipped where none can be mounted.

    It fails at the end if a file is still open, unless `is_held` says that a library keeps one.
    """
    target = folder / "small"
    target.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(target)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("a small file system can be mounted by root alone")
    try:
        yield target
    finally:
        subprocess.run(["umount", *(["--lazy"] if is_held else []), str(target)], check=True)
