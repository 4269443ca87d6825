"""A comparison as files: JSON for programs, Markdown for a README, and for people one page that needs nothing else."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import orjson

from converters.compare import CandidateRow

_COLUMNS: tuple[tuple[str, Callable[[CandidateRow], str]], ...] = (
    ("candidate", lambda row: str(row.variant)),
    ("MiB", lambda row: f"{row.figures.size_bytes / 2**20:.2f}" if row.figures else ""),
    ("load s", lambda row: f"{row.figures.load_s:.2f}" if row.figures else ""),
    ("RSS MiB", lambda row: f"{row.figures.memory_mib:.0f}" if row.figures else ""),
    ("ms, 1 row", lambda row: f"{row.figures.one_row_ms:.2f}" if row.figures else ""),
    ("ms, 32 rows", lambda row: f"{row.figures.batch_ms:.1f}" if row.figures else ""),
    ("texts/s", lambda row: f"{row.figures.texts_per_s:.0f}" if row.figures else ""),
    ("agreement", lambda row: "" if row.agreement is None else f"{row.agreement:.2%}"),
    ("metric", lambda row: f"{row.evaluation.value:.4f}" if row.evaluation else ""),
    ("points lost", lambda row: f"{row.evaluation.drop_points:+.2f}" if row.evaluation else ""),
    ("verdict", lambda row: row.reason or row.status),
)


def table_of(rows: Sequence[CandidateRow]) -> tuple[list[str], list[list[str]]]:
    """Headings, and a line of words for each candidate."""
    return [heading for heading, _ in _COLUMNS], [[show(row) for _, show in _COLUMNS] for row in rows]


def write_report(rows: Sequence[CandidateRow], command: str, folder: Path) -> None:
    """Write `compare.json`, `compare.md` and `compare.html`, which needs nothing beside itself.

    Args:
        rows: every candidate.
        command: what exports the recommended one; empty where there is none.
        folder: made if it is missing.
    """
    from converters.compare_page import page_of

    folder.mkdir(parents=True, exist_ok=True)
    content = {"candidates": msgspec.to_builtins(list(rows)), "recommended": command}
    (folder / "compare.json").write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
    (folder / "compare.md").write_text(_markdown(rows), encoding="utf-8")
    (folder / "compare.html").write_text(page_of(rows, command, *table_of(rows)), encoding="utf-8")


def _markdown(rows: Sequence[CandidateRow]) -> str:
    headings, lines = table_of(rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in [headings, ["---"] * len(headings), *lines])
