"""Answers as a person reads them: a table for most tasks, marked texts for entities, trees for extractions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from text_runtime.tensors import TEXT, TEXT_PAIR
from trireme.client.codecs import Answer, Classification, Embedding, Entities, Extraction, LabelSet, Relevance
from trireme.client.codecs.extraction import Found

_TEXT_CHARS = 60
_FIRST_VALUES = 5
_ENTITY_STYLE, _LABEL_STYLE = "bold", "cyan"

Asked = Mapping[str, str]
"""What was asked in one row: a text by input name."""


def answers_view(asked: Sequence[Asked], answers: Sequence[Answer]) -> RenderableType:
    """Answers (at least one, all of one task) beside what was asked, and the release that gave them."""
    releases = sorted({str(answer.release or "unknown") for answer in answers})
    note = Text(f"release {', '.join(releases)}", style="dim")
    if isinstance(answers[0], Extraction):
        return Group(*(_tree(*row) for row in zip(asked, answers, strict=True)), note)
    return Group(_table(asked, answers), note)


def _table(asked: Sequence[Asked], answers: Sequence[Answer]) -> Table:
    """Columns that the task wants; and unread characters, where there are any."""
    columns = dict(_COLUMNS[type(answers[0])])
    if TEXT_PAIR.name in asked[0]:
        columns = {TEXT.name: _text, TEXT_PAIR.name: _text_pair} | columns
    if any(answer.is_truncated for answer in answers):
        columns |= {"unread characters": lambda _, answer: str(answer.truncated_chars)}
    table = Table(*columns)
    for row, answer in zip(asked, answers, strict=True):
        table.add_row(*(_cell(column(row, answer)) for column in columns.values()))
    return table


def _cell(content: str | Text) -> Text:
    """A cell whose brackets are brackets: rich would read them as markup."""
    return content if isinstance(content, Text) else Text(content)


def _text(asked: Asked, _: Any) -> str:
    return shortened(asked[TEXT.name])


def _text_pair(asked: Asked, _: Any) -> str:
    return shortened(asked[TEXT_PAIR.name])


def _score(_: Asked, answer: Classification | Relevance) -> str:
    return f"{answer.score:.4f}"


def _scores(_: Asked, answer: Classification) -> str:
    return " ".join(f"{score:.4f}" for score in answer.scores)


def _chosen(_: Asked, answer: LabelSet) -> str:
    return "\n".join(f"{each.label} {each.score:.4f}" for each in answer.labels) or "none reaches its threshold"


def _marked(asked: Asked, answer: Entities) -> Text:
    """The whole text, each entity in brackets with its label."""
    text, marked, position = asked[TEXT.name], Text(), 0
    for entity in answer.entities:
        marked.append(text[position : entity.start]).append("[").append(entity.text, style=_ENTITY_STYLE)
        marked.append(f" {entity.label}", style=_LABEL_STYLE).append("]")
        position = entity.end
    return marked.append(text[position:])


def _entities(_: Asked, answer: Entities) -> str:
    return "\n".join(f"{each.start}-{each.end} {each.label} {each.score:.4f}" for each in answer.entities) or "none"


def _dimension(_: Asked, answer: Embedding) -> str:
    return str(len(answer.embedding))


def _first_values(_: Asked, answer: Embedding) -> str:
    return " ".join(f"{value:.4f}" for value in answer.embedding[:_FIRST_VALUES]) + " …"


def _norm(_: Asked, answer: Embedding) -> str:
    return f"{np.linalg.norm(answer.embedding):.4f}"


_Column = Callable[[Asked, Any], str | Text]
_COLUMNS: dict[type[Answer], dict[str, _Column]] = {
    Classification: {"text": _text, "label": lambda _, answer: answer.label, "score": _score, "scores": _scores},
    LabelSet: {"text": _text, "labels": _chosen, "scores": _scores},
    Relevance: {"score": _score},
    Entities: {"text with its entities": _marked, "entities": _entities},
    Embedding: {"text": _text, "dimension": _dimension, "first values": _first_values, "norm": _norm},
}


def _tree(asked: Asked, answer: Answer) -> Tree:
    assert isinstance(answer, Extraction)
    unread = f"  ({answer.truncated_chars} characters unread)" if answer.is_truncated else ""
    tree = Tree(Text(shortened(asked[TEXT.name]) + unread))
    if not answer.result:
        tree.add(Text("nothing found", style="dim"))
    _grow(tree, answer.result)
    return tree


def _grow(tree: Tree, found: Found) -> None:
    for name, spans in found.items():
        branch = tree.add(Text(name, style=_LABEL_STYLE))
        for span in spans:
            place = "" if span.start is None else f"  {span.start}-{span.end}"
            leaf = Text(span.text, style=_ENTITY_STYLE).append(f"{place}  {span.score:.4f}", style="not bold")
            _grow(branch.add(leaf), span.relations)


def shortened(text: str) -> str:
    """The beginning of a text, as much as a table's cell takes."""
    return text if len(text) <= _TEXT_CHARS else f"{text[: _TEXT_CHARS - 1]}…"


def comparison_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    """Candidates of a comparison, a line each; the last column says what became of it."""
    table = Table(*headings)
    for line in lines:
        table.add_row(*line, style="" if line[-1] == "passed" else "dim")
    return table
