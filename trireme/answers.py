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


def comparison_table(rows: Sequence[Any]) -> Table:
    """Candidates of a comparison: status, size, speed and accuracy; see `converters.compare.CandidateRow`."""
    headings = (
        "MiB",
        "load s",
        "RSS MiB",
        "ms, 1 row",
        "ms, 32 rows",
        "texts/s",
        "agreement",
        "accuracy",
        "points lost",
    )
    table = Table("engine", "precision", *headings, "verdict")
    for row in rows:
        figures = (
            f"{row.size_bytes / 2**20:.2f}",
            f"{row.load_s:.2f}",
            f"{row.memory_mib:.0f}",
            f"{row.one_row_ms:.2f}",
            f"{row.batch_ms:.1f}",
            f"{row.texts_per_s:.0f}",
            f"{row.agreement:.2%}",
            f"{row.accuracy:.4f}",
            f"{row.drop_points:+.2f}",
        )
        shown = figures if row.is_passed else ("",) * len(figures)
        table.add_row(row.engine, row.precision, *shown, "passed" if row.is_passed else row.reason)
    return table
