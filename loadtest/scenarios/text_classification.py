"""text-classification under load: shapes, ranges, sums, and the same label for the same text each time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from loadtest.scenarios.base import Scenario, Tensors, require

_SUM_TOLERANCE = 1e-3
# A text that shares its batch with others is padded differently each time, which moves a score in low precision a
# little. Only a text whose two best scores are this close may change its label for that.
_TIE = 0.02


class TextClassification(Scenario):
    """`label` STRING [1], `score` FP32 [1] and `scores` FP32 [labels] for each text."""

    task_name = "text-classification"

    def __init__(self) -> None:
        self._label_of_column: dict[int, bytes] = {}
        self._label_of_text: dict[str, bytes] = {}

    def judge(self, texts: Sequence[str], answer: Tensors) -> None:
        """See the base class."""
        labels, best, scores = answer["label"], answer["score"], answer["scores"]
        _judge_shapes(len(texts), answer)
        require(bool(np.isfinite(scores).all()), "scores are not finite")
        require(bool(((scores >= 0) & (scores <= 1)).all()), "scores are outside [0, 1]")
        require(bool((abs(scores.sum(axis=1) - 1) <= _SUM_TOLERANCE).all()), "scores do not sum to 1")
        require(np.array_equal(best[:, 0], scores.max(axis=1)), "score is not the best of scores")
        for row, text in enumerate(texts):
            self._judge_label(text, labels[row, 0], scores[row])

    def _judge_label(self, text: str, label: bytes, scores: np.ndarray[Any, Any]) -> None:
        """A column of `scores` has one name, no two columns share it, and a text keeps its label."""
        column = int(scores.argmax())
        known = self._label_of_column.setdefault(column, label)
        require(
            label == known and len(set(self._label_of_column.values())) == len(self._label_of_column),
            "label does not belong to the best score",
        )
        if self._label_of_text.setdefault(text, label) != label:
            runner_up, winner = np.sort(scores)[-2:]
            require(winner - runner_up <= _TIE, "the same text got another label")


def _judge_shapes(rows: int, answer: Tensors) -> None:
    shapes = {name: answer[name].shape for name in ("label", "score", "scores")}
    require(shapes["label"] == shapes["score"] == (rows, 1), "label or score does not have the shape [rows, 1]")
    is_wide = len(shapes["scores"]) == 2 and shapes["scores"][1] >= 2
    require(is_wide and shapes["scores"][0] == rows, "scores does not have the shape [rows, labels]")
