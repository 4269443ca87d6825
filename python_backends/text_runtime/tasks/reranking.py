"""reranking: how well a passage (`text_pair`) answers a query (`text`), as one number; higher is better."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from text_runtime.tasks.agreement import closeness
from text_runtime.tasks.answers import Answer, Asked, Question
from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import merged_scores, split_by_request
from text_runtime.tasks.judging import Judge, require, require_score
from text_runtime.tasks.views import View, asked_cells
from text_runtime.tensors import NEW_TOKENS, TEXT, TEXT_PAIR, DataType, TensorSpec

_SAME = 0.05  # padding, which differs from batch to batch, moves a score in low precision a little
_TIE = 0.01


@dataclass(frozen=True, kw_only=True)
class Relevance(Answer):
    """How well a passage answers a query; the higher the better."""

    score: float


class Reranking(Task[Relevance]):
    """`score` FP32 [1].

    Of a head of one column it is the sigmoid, or the logit where the checkpoint asks for raw scores; of a head of two
    it is the second column's softmax.
    """

    name = "reranking"
    inputs = (TEXT, TEXT_PAIR)
    postprocess_inputs = (NEW_TOKENS,)
    library_output = "score"

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (TensorSpec("score", DataType.FP32, (1,)),)

    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Decode by the head's width."""
        if len(labels.names) not in (1, 2):
            raise ValueError(f"reranking takes a head of one or two columns, not of {len(labels.names)}")
        return _Decoder(labels.activation if len(labels.names) == 1 else "softmax")

    def ask(
        self, query: str, passages: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> Question[list[Relevance]]:
        """How well each passage answers the query, in the order given (reranking)."""
        columns = {TEXT.name: [query] * len(passages), TEXT_PAIR.name: passages}
        return Question(self.name, columns, self.answers, key, timeout_s)

    def answer(self, row: Tensors, *, release: int | None, truncated_chars: int) -> Relevance:
        """See the base class."""
        return Relevance(score=float(row["score"][0]), release=release, truncated_chars=truncated_chars)

    def agreement(self, ours: Relevance, theirs: Relevance) -> float:
        """How close the scores are."""
        return closeness([ours.score], [theirs.score])

    def agreements(self, ours: Sequence[Relevance], theirs: Sequence[Relevance]) -> list[float]:
        """How close each passage's scores are, weighed by the share of the other passages to which it stands in the
        same order. Scores alone would let everything pass where nearly every passage is irrelevant."""
        orders = [np.array([each.score for each in answers]) for answers in (ours, theirs)]
        one, other = (scores[:, None] - scores for scores in orders)
        is_same = (np.sign(one) == np.sign(other)) | ((np.abs(one) <= _TIE) & (np.abs(other) <= _TIE))
        others = max(1, len(ours) - 1)
        shares = (is_same.sum(axis=1) - 1) / others if len(ours) > 1 else np.ones(len(ours))
        return [float(closeness(*pair) * share) for *pair, share in zip(*orders, shares, strict=True)]

    def judge(self) -> Judge[Relevance]:
        """One score, the same for the same pair."""
        return _Judge()

    def view(self, asked: Asked, answer: Relevance) -> View:
        """The score beside query and passage."""
        return asked_cells(asked) | {"score": f"{answer.score:.4f}"}


class _Decoder:
    def __init__(self, activation: str) -> None:
        self._activation = activation

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        merged = merged_scores(requests, self._activation)
        return split_by_request({"score": np.concatenate(merged)[:, -1:]}, merged)


class _Judge(Judge[Relevance]):
    def __call__(self, asked: Asked, answer: Relevance) -> None:
        require_score(answer.score)
        is_same = abs(self.first_answer(asked, answer).score - answer.score) <= _SAME
        require(is_same, "the same pair got another score")
