"""UIE beside PaddleNLP's own `Taskflow("information_extraction")` on the same weights: tokens, spans, and the tree.

The weights are random, so two things are taken away on both sides that no trained model answers with: special tokens
(PaddleNLP makes empty answers of them, ours are nobody's), and a prompt's own characters.

Known differences, where ours is the one that is wanted: PaddleNLP loses count of characters behind blanks, `[UNK]` and
dropped ones, so its answers there are shifted; it cuts a long text into pieces of so many characters and reads none
across a cut, where ours are truncated or overlap; and of several options that a prompt offers it gives one at random,
where ours gives each with its score.
"""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from converters.paddle_runtime import import_paddlenlp
from tests.tasks.checkpoints import MAX_POSITIONS
from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.manifest import read_manifest

pytestmark = pytest.mark.xdist_group("tasks")
SCHEMAS: tuple[Any, ...] = (
    "时间",
    ["时间", "地点", "评价"],
    {"人物": "地点"},
    [{"人物": ["时间"]}],
    ["评价", {"地点": ["人物", "时间"]}],
    {"人物": ["地点", {"时间": ["评价", "金额"]}]},
    {"公司": [{"名称": "地点"}]},
    ["Ａ１公司", "名\u3000称"],
)
_SPECIAL = (0, 1, 2)
_NAMES = {"probability": "score"}


class _Inputs:
    """Passes a predictor's input on, and keeps it."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self.values: Any = None

    def copy_from_cpu(self, values: Any) -> None:
        self.values = values
        self._handle.copy_from_cpu(values)


class _Output:
    """A predictor's output without what special tokens and prompts say."""

    def __init__(self, handle: Any, ids: _Inputs, types: _Inputs) -> None:
        self._handle, self._ids, self._types = handle, ids, types

    def copy_to_cpu(self) -> Any:
        values = self._handle.copy_to_cpu().copy()
        values[np.isin(self._ids.values, _SPECIAL) | (self._types.values == 0)] = 0.0
        return values


@pytest.fixture(scope="module")
def taskflow(checkpoints: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """PaddleNLP's own pipeline on a copy of the checkpoint, into which it writes."""

    import_paddlenlp()
    from paddlenlp.taskflow import Taskflow

    copy = shutil.copytree(checkpoints["uie"], tmp_path_factory.mktemp("taskflow") / "uie")
    flow = Taskflow("information_extraction", task_path=str(copy), schema="时间", max_seq_len=MAX_POSITIONS)
    task = flow.task_instance
    ids, types = _Inputs(task.input_handles[0]), _Inputs(task.input_handles[1])
    task.input_handles[:2] = [ids, types]
    task.output_handle = [_Output(handle, ids, types) for handle in task.output_handle]
    return flow


@pytest.fixture(scope="module")
def ours(tasks_repository: Path) -> LocalPipeline:
    """The exported release in this process: what Triton runs in three."""
    folders = {step: tasks_repository / f"uie_{step}" / "1" for step in ("tokenizer", "encoder", "postprocess")}
    return LocalPipeline(folders, read_manifest(folders["encoder"]))


def plain_texts(count: int) -> list[str]:
    """Texts without blanks, whose every character is in the vocabulary, and that one window holds."""
    chance = random.Random(5)
    pieces = [*map(chr, range(0x4E00, 0x4E00 + 3000)), "john", "2024", "，", "。", "paris", "15", "Johnson", "的"]
    return ["".join(chance.choices(pieces, k=chance.randint(3, 36)))[:36] for _ in range(count)]


def comparable(answers: Any, number: Callable[[float], Any] = float) -> Any:
    """Either's answers in one order, under one name for the score, without those from a prompt itself."""
    if isinstance(answers, list):
        kept = [comparable(answer, number) for answer in answers if "start" in answer]
        return sorted(kept, key=lambda answer: (answer["start"], answer["end"]))
    if isinstance(answers, dict):
        renamed = {_NAMES.get(key, key): comparable(value, number) for key, value in answers.items()}
        return {key: value for key, value in renamed.items() if value not in ([], {})}
    return number(answers) if isinstance(answers, float) else answers


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_extraction_answers_as_taskflow_does(taskflow: Any, ours: LocalPipeline, schema: Any) -> None:
    texts = plain_texts(10 if "金额" in str(schema) else 50)  # three levels ask very much of random weights
    taskflow.set_schema(schema)
    theirs = [comparable(answer, lambda score: pytest.approx(score, abs=1e-3)) for answer in taskflow(texts)]
    schemas = np.array([[orjson.dumps(schema)]] * len(texts), dtype=np.object_)
    (answer,) = ours([{"text": text_tensor(texts), "schema": schemas}])
    found = [comparable(orjson.loads(row)) for row in answer["result"][:, 0]]
    for text, our, their in zip(texts, found, theirs, strict=True):
        assert our == their, text
    assert sum(map(bool, found)) > len(texts) // 2
