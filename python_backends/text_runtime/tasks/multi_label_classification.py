"""multi-label-classification: any number of labels for each text, each judged against its own threshold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import orjson

from text_runtime.tasks.agreement import closeness, f1
from text_runtime.tasks.answers import Answer, Asked, Question
from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import Array, merged_scores, split_by_request, strings
from text_runtime.tasks.judging import Judge, are_close, require, require_score
from text_runtime.tasks.views import View, asked_cells, numbers
from text_runtime.tensors import NEW_TOKENS, TEXT, DataType, TensorSpec

DEFAULT_THRESHOLD = 0.5
_SAME = 0.05  # padding, which differs from batch to batch, moves a score in low precision a little


@dataclass(frozen=True)
class LabelScore:
    """A label and its score from 0 to 1."""

    label: str
    score: float


@dataclass(frozen=True, kw_only=True)
class LabelSet(Answer):
    """The labels that reach their thresholds, best first, and the scores of all labels in the release's order."""

    labels: tuple[LabelScore, ...]
    scores: tuple[float, ...]


class MultiLabelClassification(Task[LabelSet]):
    """`labels` STRING [1]: JSON list of `label` and `score`, best first; `scores` FP32 [labels]."""

    name = "multi-label-classification"
    postprocess_inputs = (NEW_TOKENS,)

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (TensorSpec("labels", DataType.STRING, (1,)), TensorSpec("scores", DataType.FP32, (width,)))

    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Decode by the release's labels and thresholds; the activation is always the sigmoid."""
        return _Decoder(labels)

    def ask(
        self, texts: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> Question[list[LabelSet]]:
        """All labels of each text that reach their thresholds (multi-label-classification)."""
        return Question(self.name, {TEXT.name: texts}, self.answers, key, timeout_s)

    def answer(self, row: Tensors, *, release: int | None, truncated_chars: int) -> LabelSet:
        """See the base class."""
        labels = tuple(LabelScore(**each) for each in orjson.loads(row["labels"][0]))
        scores = tuple(row["scores"].tolist())
        return LabelSet(labels=labels, scores=scores, release=release, truncated_chars=truncated_chars)

    def agreement(self, ours: LabelSet, theirs: LabelSet) -> float:
        """F1 of the labels (1 where neither gives any), weighed by how close all scores are."""
        same = f1({each.label for each in ours.labels}, {each.label for each in theirs.labels})
        return (1.0 if same is None else same) * closeness(ours.scores, theirs.scores)

    def judge(self) -> Judge[LabelSet]:
        """The labels chosen are among the scores, best first."""
        return _Judge()

    def view(self, asked: Asked, answer: LabelSet) -> View:
        """The labels with their scores, and all scores."""
        chosen = "\n".join(f"{each.label} {each.score:.4f}" for each in answer.labels)
        cells = {"labels": chosen or "none reaches its threshold", "scores": numbers(answer.scores)}
        return asked_cells(asked) | cells


class _Decoder:
    def __init__(self, labels: Labels) -> None:
        self._names = labels.names
        self._thresholds = np.array(labels.thresholds or [DEFAULT_THRESHOLD] * len(labels.names))

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        merged = merged_scores(requests, "sigmoid")
        scores = np.concatenate(merged)
        return split_by_request({"labels": strings([self._chosen(row) for row in scores]), "scores": scores}, merged)

    def _chosen(self, scores: Array) -> bytes:
        order = [index for index in np.argsort(-scores, kind="stable") if scores[index] >= self._thresholds[index]]
        return orjson.dumps([{"label": self._names[index], "score": float(scores[index])} for index in order])


class _Judge(Judge[LabelSet]):
    def __call__(self, asked: Asked, answer: LabelSet) -> None:
        require_score(*answer.scores)
        chosen = [each.score for each in answer.labels]
        require(chosen == sorted(chosen, reverse=True), "labels are not best first")
        require(len({each.label for each in answer.labels}) == len(chosen), "a label is there twice")
        require(all(any(abs(one - score) < 1e-6 for score in answer.scores) for one in chosen), "a label has no score")
        first = self.first_answer(asked, answer)
        require(are_close(first.scores, answer.scores, _SAME), "the same text got other scores")
