"""One task under load: how texts become its inputs, and whether a reply is what the task promises."""

from typing import Any

from text_runtime.tasks import Columns, Task, rows_of
from text_runtime.tasks.judging import AnswerError, require
from text_runtime.tasks.schema import parse_schema
from text_runtime.tensors import SCHEMA, TRUNCATED_CHARS
from trireme.client.exchange import Reply
from trireme.errors import InputError

__all__ = ["AnswerError", "Scenario"]


class Scenario:
    """A task's inputs and its judge. One object serves all users of a run, so the judge may remember answers.

    Args:
        task: the task.
        schema: what an extraction asks, as JSON; no other task looks at it.

    Raises:
        InputError: the task takes a schema, and this is none.
    """

    def __init__(self, task: Task[Any], schema: str) -> None:
        self._task = task
        self._schema = schema
        self._judge = task.judge()
        self.texts_a_row = task.texts_a_row
        """How many texts of the corpus one row takes."""
        if SCHEMA in task.inputs:
            _require_schema(schema)

    def columns(self, texts: list[str]) -> Columns:
        """A request's inputs; a pair task takes the second half of the texts as pairs of the first."""
        return self._task.columns(texts, self._schema)

    def judge(self, columns: Columns, reply: Reply) -> None:
        """Hold a reply against what the task promises.

        Raises:
            AnswerError: it is wrong.
        """
        rows = rows_of(columns)
        self._judge_shapes(len(rows), reply)
        try:
            answers = self._task.answers(reply.whole)
        except (KeyError, TypeError, ValueError) as error:
            raise AnswerError("an output is not what the contract says") from error
        for asked, answer in zip(rows, answers, strict=True):
            self._judge(asked, answer)

    def _judge_shapes(self, rows: int, reply: Reply) -> None:
        for tensor in (*self._task.outputs(1), TRUNCATED_CHARS):
            values = reply.outputs.get(tensor.name)
            require(values is not None, f"{tensor.name} is missing")
            assert values is not None
            is_fitting = values.ndim == 1 + len(tensor.dims) and len(values) == rows
            require(is_fitting, f"{tensor.name} does not have a row for each text")


def _require_schema(schema: str) -> None:
    try:
        parse_schema(schema)
    except ValueError as error:
        raise InputError("schema", str(error), "give it with --schema") from error
