"""Metrics of tasks that answer with numbers: what counts is the order that they put pairs of texts in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from converters.evaluation.base import Columns, EvaluationError, Labelled, Metric, read_tsv, text_columns
from text_runtime.local import LocalPipeline
from text_runtime.tasks import Tensors
from text_runtime.tensors import TEXT, TEXT_PAIR

_SHORTEST = 1e-12


class ScoreRanks(Metric):
    """Spearman's rank correlation of the scores of pairs with the scores that people gave."""

    name = "Spearman"
    form = "a .tsv with a header and the columns text, text_pair and score"
    compared = "ranks of scores"

    def read(self, path: Path, labels: Sequence[str]) -> Labelled:
        """See `Metric`."""
        rows = read_tsv(path, [TEXT.name, TEXT_PAIR.name, "score"], self.form)
        try:
            truths = [float(row["score"]) for row in rows]
        except ValueError as error:
            raise EvaluationError(path, f"a score is no number ({error})", self.form) from error
        if len(set(truths)) < 2:
            raise EvaluationError(path, "all scores are the same", self.form)
        return Labelled(text_columns(rows), truths)

    def answer(self, tensors: Tensors, row: int) -> float:
        """See `Metric`."""
        return float(tensors["score"][row, 0])

    def value(self, answers: Sequence[Any], truths: Sequence[Any]) -> float:
        """See `Metric`."""
        return _spearman(answers, truths)

    def agreement(self, ours: Sequence[Any], theirs: Sequence[Any]) -> float:
        """The rank correlation of both."""
        return _spearman(ours, theirs)


class EmbeddingRanks(ScoreRanks):
    """Spearman's rank correlation of the cosines of pairs of vectors with the scores that people gave.

    An answer is the vector of a text, or where there are pairs the two vectors of a pair.
    """

    compared = "cosine of vectors"

    def ask(self, pipeline: LocalPipeline, columns: Columns) -> list[Any]:
        """The vectors [texts, dimension] of each row: the pipeline knows no pairs, so both sides are asked for."""
        sides = [super(EmbeddingRanks, self).ask(pipeline, {TEXT.name: texts}) for texts in columns.values()]
        return [np.stack(vectors) for vectors in zip(*sides, strict=True)]

    def answer(self, tensors: Tensors, row: int) -> Any:
        """See `Metric`."""
        return tensors["embedding"][row]

    def value(self, answers: Sequence[Any], truths: Sequence[Any]) -> float:
        """See `Metric`."""
        return _spearman([float(_cosine(pair[0], pair[1])) for pair in answers], truths)

    def agreement(self, ours: Sequence[Any], theirs: Sequence[Any]) -> float:
        """The mean cosine of one's vectors with the other's."""
        return float(np.mean([_cosine(our, their) for our, their in zip(ours, theirs, strict=True)]))


def _cosine(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    lengths = np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1)
    cosines: npt.NDArray[Any] = (one * other).sum(axis=-1) / np.maximum(lengths, _SHORTEST)
    return cosines


def _spearman(one: Sequence[float], other: Sequence[float]) -> float:
    from scipy.stats import spearmanr

    if len(set(one)) < 2 or len(set(other)) < 2:  # a constant has no ranks
        return float(list(one) == list(other))
    return float(spearmanr(one, other).statistic)
