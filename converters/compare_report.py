"""A comparison as files: JSON for programs, Markdown for a README, and one HTML page with plots for people."""

import html
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson

from converters.compare import CandidateRow

_COLUMNS: tuple[tuple[str, Callable[[CandidateRow], str]], ...] = (
    ("candidate", lambda row: str(row.plan)),
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
_STYLE = "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{padding:.3em .7em;text-align:left;"
_STYLE += "border-bottom:1px solid #ccc}code{background:#eee;padding:.2em}"


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
    folder.mkdir(parents=True, exist_ok=True)
    content = {"candidates": msgspec.to_builtins(list(rows)), "recommended": command}
    (folder / "compare.json").write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
    (folder / "compare.md").write_text(_markdown(rows), encoding="utf-8")
    (folder / "compare.html").write_text(_page(rows, command), encoding="utf-8")


def _markdown(rows: Sequence[CandidateRow]) -> str:
    headings, lines = table_of(rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in [headings, ["---"] * len(headings), *lines])


def _page(rows: Sequence[CandidateRow], command: str) -> str:
    headings, lines = table_of(rows)
    head = "".join(f"<th>{html.escape(word)}</th>" for word in headings)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(word)}</td>' for word in line)}</tr>" for line in lines)
    advice = f"<p>Recommended: <code>{html.escape(command)}</code></p>" if command else "<p>No candidate passed.</p>"
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Precisions compared</title><style>{_STYLE}</style>"
        f"<h1>Precisions compared</h1>{advice}<table><tr>{head}</tr>{body}</table>{_plots(rows)}</html>"
    )


def _plots(rows: Sequence[CandidateRow]) -> str:
    """The metric against speed, and size by candidate; plotly itself stands in the page once."""
    import plotly.express as express

    points = [_point(row) for row in rows if row.figures and row.evaluation]
    if not points:
        return ""
    look = {"color": "status", "template": "plotly_white", "hover_name": "candidate"}
    speed = express.scatter(
        points, x="texts/s", y=points[0]["metric"], text="candidate", title="Accuracy against speed", **look
    )
    speed.update_traces(textposition="top center", marker={"size": 12})
    size = express.bar(points, x="MiB", y="candidate", orientation="h", title="Size of the encoder", **look)
    return str(
        speed.to_html(full_html=False, include_plotlyjs=True) + size.to_html(full_html=False, include_plotlyjs=False)
    )


def _point(row: CandidateRow) -> dict[str, Any]:
    assert row.figures is not None
    assert row.evaluation is not None
    return {
        "candidate": str(row.plan),
        "status": row.status,
        "texts/s": row.figures.texts_per_s,
        "MiB": row.figures.size_bytes / 2**20,
        "metric": row.evaluation.metric,
        row.evaluation.metric: row.evaluation.value,
    }
