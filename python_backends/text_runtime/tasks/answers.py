"""What passes between a caller and a task: what was asked, the raw outputs, and answers that say what they mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy.typing as npt

Columns = Mapping[str, Sequence[str]]
"""Texts by input name, each column with one text a row."""

Asked = Mapping[str, str]
"""What was asked in one row: a text by input name."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Outputs:
    """A pipeline's raw outputs for all rows of a call, and for each row the release that answered it."""

    tensors: Mapping[str, npt.NDArray[Any]]
    releases: tuple[int | None, ...]

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.tensors[name]


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


@dataclass(frozen=True)
class Question(Generic[Result]):
    """One call of a task's method: what is asked, and what the outputs mean to the caller.

    `key` names a user: during a canary the same key meets the same release. `timeout_s` covers the whole call.
    """

    task_name: str
    columns: Columns
    decode: Callable[[Outputs], Result]
    key: str | None = None
    timeout_s: float | None = None
    prompt: str | None = None
