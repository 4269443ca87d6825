"""What a codec is: from a pipeline's raw outputs to answers that say what they mean."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from text_runtime.tensors import TRUNCATED_CHARS
from trireme.client.exchange import Outputs

Result = TypeVar("Result")
Row = TypeVar("Row", bound="Answer")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What every answer to one text says beside its task's own.

    `release` is the release that gave it; None where a canary's router does not say. `truncated_chars` counts the
    characters of the text (of both texts of a pair) that the model did not read.
    """

    release: int | None
    truncated_chars: int

    @property
    def is_truncated(self) -> bool:
        """Whether the model read less than the whole text."""
        return self.truncated_chars > 0


class Codec(ABC, Generic[Result]):
    """The client's side of one task: its name, the method that asks it, and what its outputs mean."""

    task_name: ClassVar[str]
    method: ClassVar[str]

    @abstractmethod
    def decode(self, outputs: Outputs) -> Result:
        """The answers to all rows of a call."""

    @abstractmethod
    def rows(self, result: Result) -> Sequence[Answer]:
        """The answers one by one; their fields are named as the pipeline's outputs."""


class RowCodec(Codec[list[Row]]):
    """A codec whose result is one answer a text."""

    def decode(self, outputs: Outputs) -> list[Row]:
        """See the base class."""
        return [
            self.row({name: values[index] for name, values in outputs.tensors.items()}, **_common(outputs, index))
            for index in range(len(outputs.releases))
        ]

    @abstractmethod
    def row(self, outputs: Mapping[str, Any], *, release: int | None, truncated_chars: int) -> Row:
        """The answer in one row of every output."""

    def rows(self, result: list[Row]) -> list[Row]:
        """See the base class."""
        return result


def _common(outputs: Outputs, index: int) -> dict[str, Any]:
    return {
        "release": outputs.releases[index],
        "truncated_chars": int(outputs[TRUNCATED_CHARS.name][index, 0]),
    }
