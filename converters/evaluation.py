"""Real texts with their labels: how often a candidate agrees with its source, and what it loses."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.manifest import GateRow
from text_runtime.tensors import TEXT, TEXT_PAIR
from trireme.errors import GateError, TriremeError

AGREEMENT = {"fp32": 0.999, "bf16": 0.99, "fp16": 0.99, "int8": 0.97}
"""Smallest allowed share of labels that equal the source's, by precision."""


class EvaluationError(TriremeError):
    """A file of labelled texts cannot be used."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"evaluation {path}: {problem}; give a .tsv with a header and the columns text and label")


@dataclass(frozen=True)
class Evaluation:
    """Labelled texts, and how many points of the metric a candidate may lose."""

    columns: Mapping[str, list[str]]
    labels: list[str]
    max_drop_points: float = 0.5


@dataclass(frozen=True)
class Scores:
    """What a model answers for the labelled texts: accuracy and macro-F1 as shares."""

    answers: list[str]
    accuracy: float
    macro_f1: float


def read_evaluation(path: Path, known: Sequence[str], max_drop_points: float) -> Evaluation:
    """Read labelled texts.

    Raises:
        EvaluationError: the file is missing, empty, lacks a column, or has labels that the model does not know.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(path, str(error)) from error
    if not rows:
        raise EvaluationError(path, "holds no row")
    if not {"text", "label"} <= rows[0].keys():
        raise EvaluationError(path, f"has the columns {', '.join(map(str, rows[0]))}")
    labels = [row["label"] or "" for row in rows]
    unknown = sorted(set(labels) - set(known))
    if unknown:
        raise EvaluationError(path, f"has labels that the model does not know ({', '.join(unknown[:5])})")
    names = [name for name in (TEXT.name, TEXT_PAIR.name) if name in rows[0]]
    return Evaluation({name: [row[name] or "" for row in rows] for name in names}, labels, max_drop_points)


def scores_of(pipeline: LocalPipeline, evaluation: Evaluation) -> Scores:
    """Ask a pipeline for every labelled text, in requests of 32 rows."""
    answers: list[str] = []
    for start in range(0, len(evaluation.labels), 32):
        rows = {name: text_tensor(texts[start : start + 32]) for name, texts in evaluation.columns.items()}
        answers += [label.decode() for label in pipeline([rows])[0]["label"].ravel()]
    return judge(answers, evaluation.labels)


def judge(answers: Sequence[str], labels: Sequence[str]) -> Scores:
    """Accuracy and macro-F1 (the unweighted mean of every label's F1)."""
    from sklearn.metrics import f1_score

    accuracy = float(np.mean([answer == label for answer, label in zip(answers, labels, strict=True)]))
    return Scores(list(answers), accuracy, float(f1_score(labels, answers, average="macro")))


def agreement_of(one: Scores, other: Scores) -> float:
    """The share of texts to which both give the same label."""
    return float(np.mean([a == b for a, b in zip(one.answers, other.answers, strict=True)]))


def evaluation_gates(precision: str, candidate: Scores, source: Scores, evaluation: Evaluation) -> list[GateRow]:
    """The last two gates: agreement with the source, and the metric on labelled data.

    Raises:
        GateError: the candidate agrees too seldom, or loses more than it may.
    """
    agreement = agreement_of(candidate, source)
    detail = f"{agreement:.2%} of {len(evaluation.labels)} labels equal the source's"
    if agreement < AGREEMENT[precision]:
        raise GateError("agreement", f"{detail}, {AGREEMENT[precision]:.1%} are needed for {precision}")
    drop = 100 * (source.accuracy - candidate.accuracy)
    figures = f"accuracy {candidate.accuracy:.4f}, the source's {source.accuracy:.4f}, {drop:+.2f} points lost"
    if drop > evaluation.max_drop_points:
        raise GateError("metric", f"{figures}, at most {evaluation.max_drop_points} are allowed")
    return [
        GateRow("agreement", "passed", detail),
        GateRow("metric", "passed", f"{figures}, macro-F1 {candidate.macro_f1:.4f}"),
    ]
