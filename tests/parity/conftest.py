"""What the parity tests share: an interpreter with torch, and the matrix of checkpoints, built once by it."""

import subprocess
from pathlib import Path

import pytest

from converters.huggingface.interpreter import find_interpreter
from converters.huggingface.process import Worker
from tests.conftest import once
from tests.parity.cases import is_long_run
from trireme.errors import InterpreterError

_BUILDER = Path(__file__).with_name("checkpoints.py")


@pytest.fixture(scope="session")
def python() -> Path:
    """The interpreter with torch."""
    try:
        found = find_interpreter()
        Worker(found, Path("/")).close()
    except InterpreterError as error:
        pytest.skip(str(error))
    return found


@pytest.fixture(scope="session")
def matrix(shared_folder: Path, python: Path) -> Path:
    """The folder of the checkpoints of the matrix. Never change them."""

    def make(folder: Path) -> None:
        part = folder.with_suffix(".part")
        command = [str(python), str(_BUILDER), str(part), *(["--long"] if is_long_run() else [])]
        ended = subprocess.run(command, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr[-3000:]
        part.rename(folder)

    return once(shared_folder / "parity-matrix", make)
