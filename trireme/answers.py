"""Answers as a person reads them."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

_TEXT_CHARS = 60


def answer_table(texts: Sequence[str], answers: Sequence[dict[str, Any]]) -> Table:
    """A table with a row for each text and a column for each output."""
    names = [name for name in answers[0] if name != "truncated_chars" or any(answer[name] for answer in answers)]
    table = Table("text", *names)
    for text, answer in zip(texts, answers, strict=True):
        table.add_row(shortened(text), *(_cell(answer[name]) for name in names))
    return table


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, list):
        return " ".join(_cell(element) for element in value)
    return str(value)


def shortened(text: str) -> str:
    """The beginning of a text, as much as a table's cell takes."""
    return text if len(text) <= _TEXT_CHARS else f"{text[: _TEXT_CHARS - 1]}…"
