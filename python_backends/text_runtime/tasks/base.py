"""What a task is: everything that is particular to it, from a caller's texts to the answer and how it is judged."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol

import numpy as np

from text_runtime.probe import probe_of
from text_runtime.tasks.answers import Asked, Columns, Outputs, Question
from text_runtime.tasks.judging import Given, Judge
from text_runtime.tasks.views import View
from text_runtime.tensors import SCHEMA, TEXT, TEXT_PAIR, TRUNCATED_CHARS, DataType, TensorSpec

Tensors = Mapping[str, np.ndarray[Any, Any]]
"""The tensors of one request by name, each with the request's rows as its first dimension."""

Encode = Callable[[Tensors], Tensors]
"""Sends a pipeline's inputs through its tokenizer and encoder again; gives what the postprocess step would get."""


class Decoder(Protocol):
    """Turns what the encoder gave into what the pipeline promises, for all requests of one execution."""

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        """Decode every request; the answers stand in the order of the requests."""


AGGREGATIONS = ("first", "mean", "token")
_CHOICES = {"activation": ("softmax", "sigmoid", "identity"), "aggregation": AGGREGATIONS}

EXAMPLE_SCHEMA = '["时间", "价格"]'


@dataclass(frozen=True)
class Labels:
    """The words for the encoder's output columns, and how a release turns columns into an answer.

    `thresholds` has one number a label (multi-label-classification), `aggregation` says how a word's pieces become one
    tag (token-classification), `is_normalized` whether vectors have length 1 (embedding).
    """

    names: tuple[str, ...]
    activation: str = "softmax"
    thresholds: tuple[float, ...] = ()
    aggregation: str = "first"
    is_normalized: bool = True

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"labels {self.names} hold one name twice")
        for field, choices in _CHOICES.items():
            if getattr(self, field) not in choices:
                raise ValueError(f"{field} {getattr(self, field)!r} is not one of: {', '.join(choices)}")
        if len(self.thresholds) not in (0, len(self.names)):
            raise ValueError(f"{len(self.thresholds)} thresholds for {len(self.names)} labels")
        if not all(0.0 <= threshold <= 1.0 for threshold in self.thresholds):
            raise ValueError("a threshold is a number from 0 to 1")


class Task(ABC, Generic[Given]):
    """A registered task, whose answer to one row is a `Given`.

    On the server only `decoder` does work, inside the postprocess step. A client asks through `ask` and reads answers
    through `answer`. Promotion and load tests use what follows.
    """

    name: ClassVar[str]
    inputs: ClassVar[tuple[TensorSpec, ...]] = (TEXT,)
    postprocess_inputs: ClassVar[tuple[TensorSpec, ...]] = ()
    """What the postprocess step gets beside the encoder's output: the pipeline's inputs, or the tokenizer's facts."""
    is_per_token: ClassVar[bool] = False
    """Whether the encoder gives a line for each token, rather than one for each window."""
    has_labels: ClassVar[bool] = True
    """Whether the encoder's columns have names."""
    label_output: ClassVar[str | None] = None
    """The output that names one label a row, whose shares are counted."""
    library_output: ClassVar[str | None] = None
    """The output that a source's own library answers with too, as numbers."""

    @abstractmethod
    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """The pipeline's outputs for an encoder with `width` columns (labels, or the embedding's dimension)."""

    def encoder_output(self, width: int) -> TensorSpec:
        """What the encoder gives for one row: one line of `width` columns for each window, or for each token.

        Most heads give `logits` FP32 [windows or tokens, width].
        """
        return TensorSpec("logits", DataType.FP32, (-1, width))

    @abstractmethod
    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Build the decoder for a release's labels; `encode` is for tasks that must look at a text again.

        Raises:
            ValueError: the labels do not fit the task.
        """

    @abstractmethod
    def ask(self, *args: Any, **kwargs: Any) -> Question[Any]:
        """What a call of the client's method asks. Its parameters and its docstring are the method's."""

    @abstractmethod
    def answer(self, row: Tensors, *, release: int | None, truncated_chars: int) -> Given:
        """The typed answer in one row of every output."""

    @abstractmethod
    def agreement(self, ours: Given, theirs: Given) -> float | None:
        """How far two answers to one row are the same, from 0 to 1; None where neither says anything to compare."""

    @abstractmethod
    def judge(self) -> Judge[Given]:
        """What judges the answers of one run under load."""

    @abstractmethod
    def view(self, asked: Asked, answer: Given) -> View:
        """The answer as a person reads it beside what was asked; headings are the same for every answer."""

    @property
    def probe(self) -> Asked:
        """The smallest real row: what readiness, promotion and health send."""
        return probe_of(tensor.name for tensor in self.inputs)

    @property
    def texts_a_row(self) -> int:
        """How many texts one row takes."""
        return sum(tensor in (TEXT, TEXT_PAIR) for tensor in self.inputs)

    def columns(self, texts: Sequence[str], schema: str = EXAMPLE_SCHEMA) -> dict[str, list[str]]:
        """Rows made of nothing but texts; where a row takes two, the second half of the texts are the first's pairs."""
        rows = len(texts) // self.texts_a_row
        known = {TEXT: list(texts[:rows]), TEXT_PAIR: list(texts[rows:]), SCHEMA: [schema] * rows}
        return {tensor.name: known[tensor] for tensor in self.inputs}

    def answers(self, outputs: Outputs) -> list[Given]:
        """The typed answers to all rows of a call."""
        truncated = outputs[TRUNCATED_CHARS.name][:, 0].tolist()
        return [
            self.answer(
                {name: values[row] for name, values in outputs.tensors.items()}, release=release, truncated_chars=chars
            )
            for row, (release, chars) in enumerate(zip(outputs.releases, truncated, strict=True))
        ]

    def agreements(self, ours: Sequence[Given], theirs: Sequence[Given]) -> list[float]:
        """The agreement of every row of which it can be told; the rows were asked together."""
        found = (self.agreement(*pair) for pair in zip(ours, theirs, strict=True))
        return [value for value in found if value is not None]

    def labels_in(self, tensors: Tensors) -> list[str]:
        """The labels of a request's rows; none where the task does not name one a row."""
        values = tensors.get(self.label_output) if self.label_output else None
        return [] if values is None else [value.decode() for value in values.ravel()]


def rows_of(columns: Columns) -> list[dict[str, str]]:
    """Columns as rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def columns_of(rows: Sequence[Asked]) -> dict[str, list[str]]:
    """Rows, all of one task, as columns."""
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
