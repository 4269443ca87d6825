"""What the parity tests share: an interpreter with torch, and the matrix of checkpoints, built once by it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import once
from tests.parity.answers import export_case
from tests.parity.cases import RightValues, is_long_run, right_values

_BUILDER = Path(__file__).with_name("checkpoints.py")


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


@pytest.fixture(scope="session")
def exported(shared_folder: Path, matrix: Path, python: Path) -> Callable[[str], Path]:
    """Exports a case by its name, once for all tests; gives its repository. Never change it."""
    cases = {case.name: case for case in right_values()}

    def export_once(name: str) -> Path:
        return once(shared_folder / "parity-releases" / name, lambda folder: _export(cases[name], folder))

    def _export(case: RightValues, folder: Path) -> None:
        export_case(case, case.folder or matrix / case.name, folder, python)

    return export_once
