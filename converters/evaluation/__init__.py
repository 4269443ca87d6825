"""Every task's metric, and real texts with their labels to apply it to. A new task is one line in `_METRICS`."""

from pathlib import Path

from converters.evaluation.base import Columns, EvaluationError, Labelled, Metric
from converters.evaluation.labels import Accuracy, MacroF1, PairAccuracy
from converters.evaluation.ranks import EmbeddingRanks, ScoreRanks
from converters.evaluation.spans import EntityF1, ExtractionAgreement
from converters.schema import Schema

__all__ = ["Columns", "EvaluationError", "EvaluationSpec", "Labelled", "Metric", "metric_of"]

_METRICS: dict[str, type[Metric]] = {
    "text-classification": Accuracy,
    "text-pair-classification": PairAccuracy,
    "multi-label-classification": MacroF1,
    "token-classification": EntityF1,
    "reranking": ScoreRanks,
    "embedding": EmbeddingRanks,
    "information-extraction": ExtractionAgreement,
}


class EvaluationSpec(Schema, frozen=True):
    """A file of labelled texts, and how many points of the task's metric a candidate may lose on it."""

    path: Path
    max_drop_points: float = 0.5


def metric_of(task_name: str) -> Metric:
    """The metric of a registered task."""
    return _METRICS[task_name]()
