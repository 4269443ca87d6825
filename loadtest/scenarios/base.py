"""What a scenario is: how texts become a task's inputs, and what makes its answers right."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

Tensors = Mapping[str, np.ndarray[Any, Any]]
"""The tensors of one request or answer by name, each with the request's rows as its first dimension."""


class AnswerError(Exception):
    """An answer came, and is wrong. The message names the kind of fault alone, so that faults can be counted."""


class Scenario(ABC):
    """One task under load. One object serves all users of a run, so it may remember what was answered before."""

    task_name: ClassVar[str]

    def inputs(self, texts: Sequence[str]) -> Tensors:
        """The request's inputs: `text` STRING [rows, 1]. A task with further inputs overrides this."""
        return {"text": strings(texts)}

    @abstractmethod
    def judge(self, texts: Sequence[str], answer: Tensors) -> None:
        """Hold an answer against what the task promises.

        Raises:
            AnswerError: it is wrong.
        """


def strings(values: Sequence[str]) -> np.ndarray[Any, Any]:
    """A STRING tensor [rows, 1]."""
    return np.array([[value.encode()] for value in values], dtype=np.object_)


def require(is_true: bool, fault: str) -> None:
    """Raise the fault unless the condition holds.

    Raises:
        AnswerError: it does not hold.
    """
    if not is_true:
        raise AnswerError(fault)
