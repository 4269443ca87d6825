"""Programs that run beside a measurement."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psutil

from trireme.errors import ServerError

_END_S = 10


@contextmanager
def running(name: str, command: Sequence[str], **options: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """A program that runs for as long as the block; it ends with all its children.

    Args:
        name: how an error calls it.
        command: what to run.
        options: more of `subprocess.Popen`.

    Raises:
        ServerError: it does not start.
    """
    try:
        process = subprocess.Popen(command, **options)
    except OSError as error:
        raise ServerError(name, f"does not start ({error})", "name an interpreter that has it") from error
    try:
        yield process
    finally:
        family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
        for member in family:
            member.terminate()
        _, alive = psutil.wait_procs(family, timeout=_END_S)
        for member in alive:
            member.kill()
        process.wait()
