"""Answers as a person reads them, without the library that draws them: columns of cells, or a tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from text_runtime.tasks.answers import Asked
from text_runtime.tensors import TEXT, TEXT_PAIR

_TEXT_CHARS = 60


class Tone(Enum):
    """What a piece of a text is to its reader."""

    PLAIN = "plain"
    FOUND = "found"
    NAME = "name"
    FAINT = "faint"


Cell = str | Sequence[tuple[str, Tone]]
"""A text, or its pieces in order."""


@dataclass(frozen=True)
class Branch:
    """A line of a tree, and what hangs on it."""

    line: Cell
    children: Sequence["Branch"] = ()


View = Mapping[str, Cell] | Branch
"""One answer: its cells by the columns' headings, or a tree under the text."""


def numbers(values: Sequence[float]) -> str:
    """Scores in one cell."""
    return " ".join(f"{value:.4f}" for value in values)


def asked_cells(asked: Asked) -> dict[str, Cell]:
    """The text, or both texts of a pair, as much of them as a cell takes."""
    return {name: shortened(asked[name]) for name in (TEXT.name, TEXT_PAIR.name) if name in asked}


def shortened(text: str) -> str:
    """The beginning of a text, as much as a table's cell takes."""
    return text if len(text) <= _TEXT_CHARS else f"{text[: _TEXT_CHARS - 1]}…"
