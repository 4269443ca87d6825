"""What each scenario lets pass and what it refuses."""

import json
from typing import Any

import numpy as np
import pytest

from loadtest.scenario import AnswerError, Scenario
from text_runtime.tasks import task, task_names
from trireme.client.exchange import Reply
from trireme.errors import InputError

SCHEMA = '[{"人物": ["时间"]}]'
GOOD: dict[str, dict[str, list[Any]]] = {
    "text-classification": {"label": [["pos"]], "score": [[0.75]], "scores": [[0.25, 0.75]]},
    "text-pair-classification": {"label": [["pos"]], "score": [[0.75]], "scores": [[0.25, 0.75]]},
    "multi-label-classification": {
        "labels": [[json.dumps([{"label": "b", "score": 0.75}, {"label": "a", "score": 0.5}])]],
        "scores": [[0.5, 0.75]],
    },
    "reranking": {"score": [[0.5]]},
    "token-classification": {
        "entities": [
            [json.dumps([{"start": start, "end": start + 1, "text": text, "label": "PER", "score": 0.9}
                         for start, text in ((0, "张"), (1, "三"))])]
        ]
    },
    "embedding": {"embedding": [[0.6, 0.8]]},
    "information-extraction": {
        "result": [
            [json.dumps({"人物": [{"text": "张三", "start": 0, "end": 2, "score": 0.9,
                                   "relations": {"时间": [{"text": "间", "score": 0.6}]}}]})]
        ]
    },
}  # fmt: skip


def scenario(name: str, schema: str) -> Scenario:
    """A task under load."""
    return Scenario(task(name), schema)


def reply(outputs: dict[str, list[Any]]) -> Reply:
    """A reply of one row that was not cut."""
    tensors = {name: _array(values) for name, values in outputs.items()}
    return Reply({"truncated_chars": np.zeros((1, 1), np.int32)} | tensors, 1)


def _array(values: list[Any]) -> np.ndarray[Any, Any]:
    if isinstance(values[0][0], str):
        return np.array([[text.encode() for text in row] for row in values], dtype=np.object_)
    return np.array(values, dtype=np.float32)


def ask(judge: Scenario, text: str = "张三") -> Any:
    """The columns of one row."""
    return judge.columns([text] * judge.texts_a_row)


@pytest.mark.parametrize("name", task_names())
def test_a_right_answer_passes_again_and_again(name: str) -> None:
    judge = scenario(name, SCHEMA)
    for _ in range(2):
        judge.judge(ask(judge), reply(GOOD[name]))


@pytest.mark.parametrize("name", task_names())
def test_a_missing_row_or_output_is_a_fault(name: str) -> None:
    judge = scenario(name, SCHEMA)
    with pytest.raises(AnswerError, match="does not have a row for each text"):
        judge.judge(judge.columns(["好"] * 2 * judge.texts_a_row), reply(GOOD[name]))
    for output in GOOD[name]:
        with pytest.raises(AnswerError, match=f"{output} is missing"):
            judge.judge(ask(judge), reply({each: GOOD[name][each] for each in GOOD[name] if each != output}))


def scored(*scores: float) -> dict[str, list[Any]]:
    """A classification whose first label is best."""
    return {"label": [["pos"]], "score": [[max(scores)]], "scores": [list(scores)]}


def entities(*found: tuple[int, int, str]) -> dict[str, list[Any]]:
    """Entities of a text."""
    rows = [{"start": start, "end": end, "text": text, "label": "PER", "score": 0.9} for start, end, text in found]
    return {"entities": [[json.dumps(rows)]]}


def finding(name: str, **fields: Any) -> dict[str, list[Any]]:
    """An extraction with one finding."""
    return {"result": [[json.dumps({name: [{"text": "张", "start": 0, "end": 1, "score": 0.9} | fields]})]]}


@pytest.mark.parametrize(
    ("name", "answer", "fault"),
    [
        ("text-classification", scored(float("nan"), 0.9), "not finite"),
        ("text-classification", scored(-0.25, 1.25), "outside"),
        ("text-classification", scored(0.6, 0.6), "sum to 1"),
        ("text-classification", scored(1.0), "fewer than two"),
        ("text-classification", scored(0.25, 0.75) | {"score": [[0.5]]}, "not the best"),
        ("multi-label-classification", {"labels": [["{"]], "scores": [[0.5]]}, "not what the contract says"),
        ("multi-label-classification", {"labels": [['[{"label": "a", "score": 0.7}]']], "scores": [[0.5]]}, "no score"),
        ("reranking", {"score": [[1.5]]}, "outside"),
        ("token-classification", entities((0, 1, "三")), "between its offsets"),
        ("token-classification", entities((0, 2, "张三"), (1, 2, "三")), "overlap"),
        ("token-classification", entities((0, 0, "")), "empty"),
        ("embedding", {"embedding": [[float("nan"), 1.0]]}, "not finite"),
        ("embedding", {"embedding": [[0.0, 0.0]]}, "zero"),
        ("information-extraction", finding("地点"), "not asked for"),
        ("information-extraction", finding("人物", end=2), "between its offsets"),
        ("information-extraction", finding("人物", relations={"人物": []}), "not asked for"),
    ],
)
def test_a_wrong_answer_is_a_fault_by_its_kind(name: str, answer: dict[str, list[Any]], fault: str) -> None:
    judge = scenario(name, SCHEMA)
    with pytest.raises(AnswerError, match=fault):
        judge.judge(ask(judge), reply(answer))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("multi-label-classification", {"labels": [["[]"]], "scores": [[0.1, 0.2]]}),
        ("reranking", {"score": [[0.7]]}),
        ("embedding", {"embedding": [[0.8, -0.6]]}),
    ],
)
def test_another_answer_to_the_same_question_is_a_fault(name: str, other: dict[str, list[Any]]) -> None:
    judge = scenario(name, SCHEMA)
    judge.judge(ask(judge), reply(GOOD[name]))
    judge.judge(ask(judge, "李四"), reply(other))
    with pytest.raises(AnswerError, match="the same .* got (an)?other"):
        judge.judge(ask(judge), reply(other))


def test_two_labels_for_one_column_or_one_for_two_are_a_fault() -> None:
    judge = scenario("text-classification", SCHEMA)
    judge.judge(ask(judge), reply({"label": [["pos"]], "score": [[0.9]], "scores": [[0.1, 0.9]]}))
    for label, scores in (("neg", [0.1, 0.9]), ("pos", [0.9, 0.1])):
        with pytest.raises(AnswerError, match="does not belong"):
            judge.judge(ask(judge), reply({"label": [[label]], "score": [[0.9]], "scores": [scores]}))


def test_another_label_for_the_same_text_is_a_fault_unless_it_is_a_tie() -> None:
    judge = scenario("text-classification", SCHEMA)

    def answered(label: str, *scores: float) -> Reply:
        return reply({"label": [[label]], "score": [[max(scores)]], "scores": [list(scores)]})

    judge.judge(ask(judge, "好"), answered("pos", 0.125, 0.875))
    judge.judge(ask(judge, "还行"), answered("pos", 0.495, 0.505))
    judge.judge(ask(judge, "还行"), answered("neg", 0.505, 0.495))
    with pytest.raises(AnswerError, match="another label"):
        judge.judge(ask(judge, "好"), answered("neg", 0.75, 0.25))


def test_every_task_can_be_put_under_load() -> None:
    assert sorted(GOOD) == task_names()


def test_an_extraction_without_a_schema_is_refused() -> None:
    with pytest.raises(InputError, match="not JSON"):
        scenario("information-extraction", "{")
