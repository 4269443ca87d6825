"""What a task's metric is: it reads labelled texts, asks a pipeline, and gives the answers a number."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.tasks import Tensors
from text_runtime.tensors import TEXT, TEXT_PAIR
from trireme.errors import TriremeError

Columns = Mapping[str, list[str]]
_ROWS_AT_A_TIME = 32


class EvaluationError(TriremeError):
    """A file of labelled texts cannot be used."""

    def __init__(self, path: Path, problem: str, form: str) -> None:
        super().__init__(f"evaluation {path}: {problem}; give {form}")


@dataclass(frozen=True)
class Labelled:
    """Texts by input name, and what the right answer to each is."""

    columns: Columns
    truths: Sequence[Any]


class Metric(ABC):
    """How well a pipeline of one task answers. An answer is whatever `ask` makes of one row's outputs."""

    name: ClassVar[str]
    """As in "accuracy 0.82"."""
    form: ClassVar[str]
    """The file that `read` wants, in words."""
    compared: ClassVar[str]
    """What two pipelines agree on, as in "99% of labels"."""

    @abstractmethod
    def read(self, path: Path, labels: Sequence[str]) -> Labelled:
        """Read labelled texts.

        Raises:
            EvaluationError: the file is missing, empty, of another form, or has labels that the model does not know.
        """

    @abstractmethod
    def answer(self, tensors: Tensors, row: int) -> Any:
        """One row's answer, out of a pipeline's outputs for a request."""

    @abstractmethod
    def value(self, answers: Sequence[Any], truths: Sequence[Any]) -> float:
        """The metric, 1 at best."""

    @abstractmethod
    def agreement(self, ours: Sequence[Any], theirs: Sequence[Any]) -> float:
        """How alike two pipelines' answers are, 1 at best."""

    def ask(self, pipeline: LocalPipeline, columns: Columns) -> list[Any]:
        """A pipeline's answer to every row."""
        answers: list[Any] = []
        count = len(next(iter(columns.values())))
        for start in range(0, count, _ROWS_AT_A_TIME):
            rows = {name: text_tensor(texts[start : start + _ROWS_AT_A_TIME]) for name, texts in columns.items()}
            (tensors,) = pipeline([rows])
            answers += [self.answer(tensors, row) for row in range(len(rows[TEXT.name]))]
        return answers


def read_tsv(path: Path, needed: Sequence[str], form: str) -> list[dict[str, str]]:
    """The rows of a file of tab-separated columns under a header.

    Raises:
        EvaluationError: it is missing, not UTF-8, empty, or lacks a column.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise EvaluationError(path, str(error), form) from error
    if not rows:
        raise EvaluationError(path, "holds no row", form)
    found = [name for name in rows[0] if name]
    if not set(needed) <= set(found):
        raise EvaluationError(path, f"has the columns {', '.join(found)}", form)
    if short := [number for number, row in enumerate(rows, 2) if any(row[name] is None for name in needed)]:
        raise EvaluationError(path, f"line {short[0]} has fewer columns than the header", form)
    return rows


def text_columns(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """The columns that are a pipeline's inputs."""
    return {name: [row[name] or "" for row in rows] for name in (TEXT.name, TEXT_PAIR.name) if name in rows[0]}


def require_known(path: Path, found: set[str], known: Sequence[str], form: str) -> None:
    """Refuse labels that the model does not know.

    Raises:
        EvaluationError: there are some.
    """
    if unknown := sorted(found - set(known)):
        shown = ", ".join(unknown[:5])
        raise EvaluationError(path, f"has labels that the model does not know ({shown})", form)
