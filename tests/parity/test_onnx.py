"""Folders with an ONNX graph answer what the library answered before the graph was made, and need no torch."""

import json
from pathlib import Path

import pytest

from tests.parity.answers import ask, differences, export_case
from tests.parity.cases import RightValues

_FOLDER = Path(__file__).parents[1] / "testdata" / "parity" / "onnx"


@pytest.mark.parametrize("name", sorted(path.stem for path in _FOLDER.glob("*.json")))
def test_an_onnx_folder_answers_as_the_library_did(name: str, tmp_path: Path) -> None:
    content = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    case = RightValues(name, content["task"], content)
    export_case(case, _FOLDER / name, tmp_path / "repository", Path("/nowhere"))
    found = differences(case, ask(tmp_path / "repository", case.texts, case.pairs))
    assert not found, "\n".join(found)
