"""Every checkpoint of the matrix is served as its own library answers, or is refused in a line that says why.

`make test-huggingface` runs what CI runs. With `TRIREME_PARITY_LONG` set the whole matrix is run, and
`TRIREME_PARITY_CASES` names a folder with cases of your own: `NAME/`, a checkpoint, and `NAME.json`, its right values,
in the form of those in `tests/testdata/parity/values`.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.parity.answers import ask, differences, export_case
from tests.parity.cases import RightValues, right_values
from trireme.errors import CheckpointError, GateError

pytestmark = [pytest.mark.huggingface, pytest.mark.timeout(900)]  # the first test waits for the whole matrix
_ALL = right_values()
_ANSWERED = [case for case in _ALL if not case.refused]
_REFUSED = [case for case in _ALL if case.refused]


def _name(case: RightValues) -> str:
    return case.name


@pytest.mark.parametrize("case", _ANSWERED, ids=_name)
def test_a_release_answers_as_the_checkpoints_own_library(case: RightValues, exported: Callable[[str], Path]) -> None:
    found = differences(case, ask(exported(case.name), case.texts, case.pairs))
    assert not found, "\n".join([f"{len(found)} of {len(case.texts)} texts", *found[:5]])


@pytest.mark.parametrize("case", _REFUSED, ids=_name)
def test_what_has_no_right_answer_is_refused_in_a_line_that_names_it(
    case: RightValues, matrix: Path, python: Path, tmp_path: Path
) -> None:
    repository = tmp_path / "repository"
    with pytest.raises((CheckpointError, GateError)) as refusal:
        export_case(case, case.folder or matrix / case.name, repository, python)
    line = str(refusal.value)
    assert re.search(case.refused, line), line
    assert "\n" not in line
    assert not repository.exists()
