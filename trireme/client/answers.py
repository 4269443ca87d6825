"""Draws answers for a person, as a table or as trees; what stands in them is the task's word."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from text_runtime.tasks import Answer, Asked, Task
from text_runtime.tasks.views import Branch, Cell, Tone, View, shortened

__all__ = ["answers_view", "comparison_table", "shortened"]

_STYLES = {Tone.PLAIN: "not bold", Tone.FOUND: "bold", Tone.NAME: "cyan", Tone.FAINT: "dim"}


def answers_view(task: Task[Any], asked: Sequence[Asked], answers: Sequence[Answer]) -> RenderableType:
    """Answers (at least one, all of one task) beside what was asked, and the release that gave them."""
    releases = sorted({str(answer.release or "unknown") for answer in answers})
    note = Text(f"release {', '.join(releases)}", style="dim")
    views = [task.view(*row) for row in zip(asked, answers, strict=True)]
    trees = [_tree(view) for view in views if isinstance(view, Branch)]
    return Group(*trees, note) if trees else Group(_table(views, answers), note)


def _table(views: Sequence[View], answers: Sequence[Answer]) -> Table:
    """The task's columns; and unread characters, where there are any."""
    rows = [dict(view) for view in views if not isinstance(view, Branch)]
    if any(answer.is_truncated for answer in answers):
        rows = [
            row | {"unread characters": str(answer.truncated_chars)} for row, answer in zip(rows, answers, strict=True)
        ]
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*(_cell(cell) for cell in row.values()))
    return table


def _cell(cell: Cell) -> Text:
    """A cell whose brackets are brackets: rich would read them as markup."""
    return Text(cell) if isinstance(cell, str) else Text.assemble(*((text, _STYLES[tone]) for text, tone in cell))


def _tree(branch: Branch) -> Tree:
    tree = Tree(_cell(branch.line))
    for child in branch.children:
        tree.children.append(_tree(child))
    return tree


def comparison_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    """Candidates of a comparison, a line each; the last column says what became of it."""
    table = Table(*headings)
    for line in lines:
        table.add_row(*line, style="" if line[-1] == "passed" else "dim")
    return table
