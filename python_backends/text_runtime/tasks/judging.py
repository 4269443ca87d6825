"""How an answer is judged under load, where nobody knows the right one: by what its task promises."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from text_runtime.tasks.answers import Answer, Asked

_REMEMBERED = 20_000  # a long run with drawn pairs asks ever new questions

Given = TypeVar("Given", bound=Answer)


class AnswerError(Exception):
    """An answer came, and is wrong. The message names the kind of fault alone, so that faults can be counted."""


class Judge(ABC, Generic[Given]):
    """Judges the answers of one run. It may remember what was answered before."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, ...], Given] = {}

    @abstractmethod
    def __call__(self, asked: Asked, answer: Given) -> None:
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


def are_close(one: npt.ArrayLike, other: npt.ArrayLike, tolerance: float) -> bool:
    """Whether two rows of numbers differ by no more than the tolerance anywhere."""
    return bool(np.allclose(one, other, rtol=0, atol=tolerance))
