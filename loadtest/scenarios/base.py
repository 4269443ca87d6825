"""What a scenario is: how texts become a task's inputs, and what makes its answers right."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from text_runtime.tasks import task
from text_runtime.tensors import SCHEMA, TEXT, TEXT_PAIR, TRUNCATED_CHARS
from trireme.client.codecs import Answer, codec_of
from trireme.client.exchange import Columns, Outputs, Reply

_REMEMBERED = 20_000  # a long run with drawn pairs asks ever new questions

Asked = Mapping[str, str]
"""What was asked in one row: a text by input name."""

Given = TypeVar("Given", bound=Answer)


class AnswerError(Exception):
    """An answer came, and is wrong. The message names the kind of fault alone, so that faults can be counted."""


class Scenario(ABC, Generic[Given]):
    """One task under load. One object serves all users of a run, so it may remember what was answered before.

    A task says its name and judges one answer; what it is asked and the shapes of its outputs stand in its contract.

    Args:
        schema: what an extraction asks, as JSON.
    """

    task_name: ClassVar[str]

    def __init__(self, schema: str) -> None:
        self._schema = schema
        self._first: dict[tuple[str, ...], Given] = {}

    @property
    def texts_a_row(self) -> int:
        """How many texts of the corpus one row takes."""
        return sum(tensor in (TEXT, TEXT_PAIR) for tensor in task(self.task_name).inputs)

    def columns(self, texts: Sequence[str]) -> Columns:
        """A request's inputs; a pair task takes the second half of the texts as pairs of the first."""
        rows = len(texts) // self.texts_a_row
        known = {TEXT: list(texts[:rows]), TEXT_PAIR: list(texts[rows:]), SCHEMA: [self._schema] * rows}
        return {tensor.name: known[tensor] for tensor in task(self.task_name).inputs}

    def judge(self, columns: Columns, reply: Reply) -> None:
        """Hold a reply against what the task promises.

        Raises:
            AnswerError: it is wrong.
        """
        rows = len(columns[TEXT.name])
        self._judge_shapes(rows, reply)
        codec = codec_of(self.task_name)
        try:
            answers = codec.rows(codec.decode(Outputs(reply.outputs, (reply.release,) * rows)))
        except (KeyError, TypeError, ValueError) as error:
            raise AnswerError("an output is not what the contract says") from error
        for row, answer in enumerate(answers):
            self.judge_answer({name: texts[row] for name, texts in columns.items()}, answer)  # type: ignore[arg-type]

    @abstractmethod
    def judge_answer(self, asked: Asked, answer: Given) -> None:
        """Hold one row's answer against what the task promises.

        Raises:
            AnswerError: it is wrong.
        """

    def first_answer(self, asked: Asked, answer: Given) -> Given:
        """What the same question was answered first; this very answer where it is new, or one too many to remember."""
        question = tuple(asked.values())
        if len(self._first) < _REMEMBERED:
            self._first.setdefault(question, answer)
        return self._first.get(question, answer)

    def _judge_shapes(self, rows: int, reply: Reply) -> None:
        for tensor in (*task(self.task_name).outputs(1), TRUNCATED_CHARS):
            values = reply.outputs.get(tensor.name)
            require(values is not None, f"{tensor.name} is missing")
            assert values is not None
            is_fitting = values.ndim == 1 + len(tensor.dims) and len(values) == rows
            require(is_fitting, f"{tensor.name} does not have a row for each text")


def require(is_true: bool, fault: str) -> None:
    """Raise the fault unless the condition holds.

    Raises:
        AnswerError: it does not hold.
    """
    if not is_true:
        raise AnswerError(fault)


def require_score(*scores: float) -> None:
    """Scores are numbers from 0 to 1.

    Raises:
        AnswerError: one is not.
    """
    require(bool(np.isfinite(scores).all()), "scores are not finite")
    require(all(0 <= score <= 1 for score in scores), "scores are outside [0, 1]")


def are_close(one: Sequence[float] | Any, other: Sequence[float] | Any, tolerance: float) -> bool:
    """Whether two rows of numbers differ by no more than the tolerance anywhere."""
    return bool(np.allclose(one, other, rtol=0, atol=tolerance))
