"""A damaged folder is exported rightly or refused in one line; it harms nothing, leaves nothing behind, and ends soon.

CI damages forty folders. With `TRIREME_PARITY_LONG` set there are two hundred. At the end a table of kinds and outcomes
is printed.
"""

import json
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import CHECKPOINT, once
from tests.converters.checkpoints import write_checkpoint, write_static
from tests.parity.answers import ask
from tests.parity.cases import is_long_run
from tests.parity.damage import DAMAGES, NotApplicable
from tests.parity.exporting import Outcome, export_by_command, unlawful
from tests.parity.weight_damage import NoTensors

pytestmark = [pytest.mark.huggingface, pytest.mark.drill, pytest.mark.timeout(1200)]
_BATCH = 5
_COUNT = 200 if is_long_run() else 40
_ONNX = Path(__file__).parents[1] / "testdata" / "parity" / "onnx"
_TASKS = {
    "pair_bert": "text-classification",
    "sentence_dense": "embedding",
    "tagger_roberta_spaced": "token-classification",
    "sharded_weights": "text-classification",
    "pickled_weights": "text-classification",
    "onnx_classifier": "text-classification",
    "onnx_sentences": "embedding",
    "paddlenlp": "text-classification",
    "paddlenlp_tokens": "token-classification",
    "static": "text-classification",
}
"""Every kind of folder, by the name of its origin, and the task that it is exported for."""
Pristine = Callable[[str], Path]


@pytest.fixture(scope="module")
def pristine(matrix: Path, shared_folder: Path) -> Pristine:
    """The undamaged folder of a kind. Never change it."""
    makers: dict[str, Callable[[Path], object]] = {
        "paddlenlp_tokens": lambda folder: write_checkpoint(folder, "ErnieForTokenClassification"),
        "static": lambda folder: write_static(folder, "BertForSequenceClassification"),
    }

    def find(kind: str) -> Path:
        if kind == "paddlenlp":
            return CHECKPOINT
        if kind.startswith("onnx"):
            return _ONNX / kind
        if kind in makers:
            return once(shared_folder / f"parity-{kind}", lambda folder: makers[kind](folder) and None)
        return matrix / kind

    return find


def damaged(index: int, pristine: Pristine, folder: Path) -> tuple[str, str, str]:
    """A damaged copy of some kind of folder; gives its kind, the kind of damage, and what exactly was done."""
    chance = random.Random(f"damage {index}")
    kinds, names = sorted(_TASKS), sorted(DAMAGES)
    kind = kinds[index % len(kinds)]
    random.Random(7).shuffle(names)
    for step in range(len(names)):
        name = names[(index + step) % len(names)]
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(pristine(kind), folder)
        try:
            return kind, name, DAMAGES[name](folder, chance)
        except (NotApplicable, NoTensors, UnicodeDecodeError, ValueError, IndexError):
            continue
    raise AssertionError(f"nothing about {kind} can be damaged")


@pytest.mark.parametrize("batch", range(_COUNT // _BATCH))
def test_a_damaged_folder_is_exported_or_refused_in_one_line(
    batch: int, pristine: Pristine, python: Path, tmp_path: Path, shared_folder: Path
) -> None:
    rows, faults = [], []
    for index in range(batch * _BATCH, (batch + 1) * _BATCH):
        place = tmp_path / str(index)
        kind, name, detail = damaged(index, pristine, place / "checkpoint")
        outcome = export_by_command(place, _TASKS[kind], python)
        wrong = [*unlawful(outcome), *_silent(outcome)]
        rows.append([kind, name, "refused" if outcome.status else "exported", bool(wrong)])
        faults += [f"{index} {kind}, {name} ({detail}): {fault}" for fault in wrong]
        shutil.rmtree(place)
    _tell(shared_folder / "parity-damage", batch, rows)
    assert not faults, "\n".join(faults)


def _silent(outcome: Outcome) -> list[str]:
    """Why a release that was published does not answer; empty where it does or where there is none."""
    if outcome.status:
        return []
    try:
        ask(outcome.repository, ["the fox 很好", "", "a" * 500], None)
    except Exception as error:
        return [f"its release does not answer ({type(error).__name__}: {error})"]
    return []


def _tell(folder: Path, batch: int, rows: list[list[object]]) -> None:
    """Keep what happened, and print the table when all of it is there."""
    folder.mkdir(exist_ok=True)
    (folder / f"{batch}.json").write_text(json.dumps(rows))
    found = [row for path in folder.glob("*.json") for row in json.loads(path.read_text())]
    if len(found) < _COUNT:
        return
    lines = [f"{'damage':32} exported refused unlawful"]
    for name in sorted({row[1] for row in found}):
        count = Counter(row[2] for row in found if row[1] == name)
        bad = sum(row[3] for row in found if row[1] == name)
        lines.append(f"{name:32} {count['exported']:8} {count['refused']:7} {bad:8}")
    kinds = Counter(row[0] for row in found)
    lines.append(f"{len(found)} folders: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    sys.__stderr__.write("\n" + "\n".join(lines) + "\n")
