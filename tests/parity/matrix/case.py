"""One case of the matrix: how its folder is made, what is asked of it, and who answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TEXTS = (
    "the quick brown fox",
    "Jumps over 12 LAZY dogs, twice!",
    "很好的酒店，服务也不错",
    "a",
    "",
    "Price 5€ or ½ of £9 → ok",
    "   the    fox\t\n dogs  ",
    "fox 😀👨‍👩‍👧 the end",
    "cafe\u0301 na\u00efve é É Straße",
    "the\u00a0fox\u3000dogs\u200b.",
    "the fox over lazy dogs " * 20,
    "张三" * 50,
)
PAIRS = (
    "quick dogs",
    "over the fox",
    "北京大学 the",
    "b",
    "the",
    "twice " * 3,
    "  lazy  ",
    "x😀",
    "e\u0301",
    "fox",
    "the brown fox over 12 dogs " * 20,
    "李四",
)
"""A second text for each of `TEXTS`: none is empty, which the library's pipeline takes for no pair."""
NAMES = (
    "张三在北京大学 the dogs",
    "the fox in 北京, quick",
    "Jumping twicex over the lazy-dogs.",
    "李四 王小明 出生于上海",
    "",
    " \t ",
    "cafe\u0301 the 😀👨‍👩‍👧fox",
    "the quick fox 北京 " * 15,
)
"""Texts for entities."""


@dataclass(frozen=True)
class Case:
    """A case; its name is its folder's. `make` fills the folder, with weights drawn by the folder's name.

    `answers` says which library answers: see `record`. `options` is what an export is told beside the task: `pooling`,
    `prompt`, `labels` (a label file's fields). `refused` is a pattern of the one line that refuses the folder. A `long`
    case is left out of the run that CI makes.
    """

    name: str
    task: str
    answers: str
    make: Callable[[Path], Any]
    texts: tuple[str, ...] = TEXTS
    pairs: tuple[str, ...] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    refused: str = ""
    is_long: bool = False


Cases = list[Case]
