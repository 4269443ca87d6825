from typing import Any

import numpy as np
import pytest

from loadtest.scenarios import AnswerError, Scenario, detect, scenario, scenario_names
from text_runtime.tasks import task_names
from trireme.errors import UnsupportedError


def _answer(labels: list[str], scores: list[list[float]]) -> dict[str, np.ndarray[Any, Any]]:
    columns = np.array(scores, dtype=np.float32)
    names = np.array([[label.encode()] for label in labels], dtype=np.object_)
    return {"label": names, "score": columns.max(axis=1, keepdims=True), "scores": columns}


@pytest.fixture
def judge() -> Scenario:
    return scenario("text-classification")


def test_right_answers_pass(judge: Scenario) -> None:
    for _ in range(2):
        judge.judge(["好", "差"], _answer(["pos", "neg"], [[0.1, 0.9], [0.8, 0.2]]))


def test_a_missing_row_is_a_fault(judge: Scenario) -> None:
    with pytest.raises(AnswerError, match="shape"):
        judge.judge(["好", "差"], _answer(["pos"], [[0.1, 0.9]]))


@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        ([[np.nan, 0.9]], "not finite"),
        ([[-0.2, 1.2]], "outside"),
        ([[0.6, 0.6]], "sum to 1"),
        ([[1.0]], "shape"),
    ],
)
def test_scores_that_are_no_distribution_are_a_fault(judge: Scenario, scores: list[list[float]], fault: str) -> None:
    with pytest.raises(AnswerError, match=fault):
        judge.judge(["好"], _answer(["pos"], scores))


def test_a_score_that_is_not_the_best_is_a_fault(judge: Scenario) -> None:
    answer = _answer(["pos"], [[0.1, 0.9]])
    answer["score"] -= 0.1
    with pytest.raises(AnswerError, match="not the best"):
        judge.judge(["好"], answer)


def test_two_labels_for_one_column_or_one_for_two_are_a_fault(judge: Scenario) -> None:
    judge.judge(["好"], _answer(["pos"], [[0.1, 0.9]]))
    for scores in ([[0.1, 0.9]], [[0.9, 0.1]]):
        with pytest.raises(AnswerError, match="does not belong"):
            judge.judge(["差"], _answer(["neg" if scores[0][1] > 0.5 else "pos"], scores))


def test_another_label_for_the_same_text_is_a_fault_unless_it_is_a_tie(judge: Scenario) -> None:
    judge.judge(["好", "还行"], _answer(["pos", "pos"], [[0.1, 0.9], [0.495, 0.505]]))
    judge.judge(["还行"], _answer(["neg"], [[0.505, 0.495]]))
    with pytest.raises(AnswerError, match="another label"):
        judge.judge(["好"], _answer(["neg"], [[0.6, 0.4]]))


def test_the_task_is_told_from_a_pipelines_tensors() -> None:
    assert detect(["text"], ["label", "score", "scores", "truncated_chars"]) == "text-classification"
    assert detect(["text"], ["vector"]) is None


def test_every_scenario_is_of_a_registered_task() -> None:
    assert set(scenario_names()) <= set(task_names())


def test_a_task_without_a_scenario_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="text-classification"):
        scenario("parsing")
