"""text-classification: one label of several for each text, with its score and all scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.tasks.agreement import closeness
from text_runtime.tasks.answers import Answer, Asked, Question
from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import merged_scores, split_by_request
from text_runtime.tasks.judging import Judge, require, require_score
from text_runtime.tasks.views import View, asked_cells, numbers
from text_runtime.tensors import NEW_TOKENS, TEXT, TEXT_PAIR, DataType, TensorSpec

_SUM_TOLERANCE = 1e-3
# A text that shares its batch with others is padded differently each time, which moves a score in low precision a
# little. Only a text whose two best scores are this close may change its label for that.
_TIE = 0.02


@dataclass(frozen=True, kw_only=True)
class Classification(Answer):
    """The best label and its score, and the scores of all labels in the release's order."""

    label: str
    score: float
    scores: tuple[float, ...]


class _OneLabel(Task[Classification]):
    """What both tasks share: `label` STRING [1], `score` FP32 [1], `scores` FP32 [labels]."""

    postprocess_inputs = (NEW_TOKENS,)
    label_output = "label"
    library_output = "scores"

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (
            TensorSpec("label", DataType.STRING, (1,)),
            TensorSpec("score", DataType.FP32, (1,)),
            TensorSpec("scores", DataType.FP32, (width,)),
        )

    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Decode by the release's labels and activation."""
        return _Decoder(labels)

    def answer(self, row: Tensors, *, release: int | None, truncated_chars: int) -> Classification:
        """See the base class."""
        label, score, scores = row["label"][0].decode(), float(row["score"][0]), tuple(row["scores"].tolist())
        return Classification(label=label, score=score, scores=scores, release=release, truncated_chars=truncated_chars)

    def agreement(self, ours: Classification, theirs: Classification) -> float:
        """How close the scores are, where the label is the same; else 0."""
        return closeness(ours.scores, theirs.scores) if ours.label == theirs.label else 0.0

    def judge(self) -> Judge[Classification]:
        """One distribution, and one label for the same text."""
        return _Judge()

    def view(self, asked: Asked, answer: Classification) -> View:
        """Label, score and all scores beside the text, or both texts."""
        cells = {"label": answer.label, "score": f"{answer.score:.4f}", "scores": numbers(answer.scores)}
        return asked_cells(asked) | cells


class TextClassification(_OneLabel):
    """One label for each text."""

    name = "text-classification"

    def ask(
        self, texts: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> Question[list[Classification]]:
        """One label for each text (text-classification)."""
        return Question(self.name, {TEXT.name: texts}, self.answers, key, timeout_s)


class TextPairClassification(_OneLabel):
    """As text-classification, for `text` and `text_pair` together."""

    name = "text-pair-classification"
    inputs = (TEXT, TEXT_PAIR)

    def ask(
        self, texts: Sequence[str], pairs: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> Question[list[Classification]]:
        """One label for each text together with its pair (text-pair-classification)."""
        return Question(self.name, {TEXT.name: texts, TEXT_PAIR.name: pairs}, self.answers, key, timeout_s)


class _Decoder:
    def __init__(self, labels: Labels) -> None:
        self._names: npt.NDArray[Any] = np.array([name.encode() for name in labels.names], dtype=np.object_)
        self._activation = labels.activation

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        merged = merged_scores(requests, self._activation)
        scores = np.concatenate(merged)
        best = scores.argmax(axis=1)
        columns = {
            "label": self._names[best][:, None],
            "score": scores[np.arange(len(best)), best][:, None],
            "scores": scores,
        }
        return split_by_request(columns, merged)


class _Judge(Judge[Classification]):
    def __init__(self) -> None:
        super().__init__()
        self._label_of_column: dict[int, str] = {}

    def __call__(self, asked: Asked, answer: Classification) -> None:
        scores = answer.scores
        require(len(scores) >= 2, "scores has fewer than two labels")
        require_score(*scores)
        require(abs(sum(scores) - 1) <= _SUM_TOLERANCE, "scores do not sum to 1")
        require(answer.score == max(scores), "score is not the best of scores")
        self._judge_label(scores.index(answer.score), answer.label)
        if self.first_answer(asked, answer).label != answer.label:
            runner_up, winner = sorted(scores)[-2:]
            require(winner - runner_up <= _TIE, "the same text got another label")

    def _judge_label(self, column: int, label: str) -> None:
        """A column of `scores` has one name, and no two columns share it."""
        known = self._label_of_column.setdefault(column, label)
        is_own = len(set(self._label_of_column.values())) == len(self._label_of_column)
        require(label == known and is_own, "label does not belong to the best score")
