"""A whole page: heading, legend, charts beside each other, tables of the exact numbers; style and all in one file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from htpy import (
    Element,
    Node,
    body,
    div,
    h1,
    head,
    html,
    li,
    main,
    meta,
    span,
    style,
    tbody,
    td,
    th,
    thead,
    title,
    tr,
    ul,
)
from htpy import table as table_element
from markupsafe import Markup

from trireme.reports.chart import Chart
from trireme.reports.colours import Colour

_STYLE = Path(__file__).with_name("page.css")
_FIGURE_LENGTH_MAX = 16


@dataclass(frozen=True)
class LegendEntry:
    """What a colour, a pattern or a mark stands for."""

    classes: str
    name: str


def page(heading: str, colours: Mapping[str, Colour], content: Node) -> str:
    """The page as a file. `colours` are the CSS classes that bars and legend use."""
    css = _STYLE.read_text(encoding="utf-8") + _declared(colours)
    document = html(lang="en")[
        head[
            meta(charset="utf-8"),
            meta(name="viewport", content="width=device-width, initial-scale=1"),
            meta(name="color-scheme", content="light dark"),
            title[heading],
            style[Markup(css)],
        ],
        body[main[h1[heading], content]],
    ]
    return f"{document}\n"


def legend(entries: Sequence[LegendEntry]) -> Element:
    """What each colour stands for, each once."""
    return ul(".legend")[(li(class_=entry.classes)[span(".swatch"), entry.name] for entry in entries)]


def charts_beside(charts: Sequence[Chart]) -> Element:
    """Charts of the same bars beside each other, or below each other where the window is narrow."""
    return div(".charts")[(chart.element() for chart in charts)]


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], strong_row: int | None = None) -> Element:
    """Words in rows; the first column names the row. It scrolls by itself where it is wider than the window."""
    classes = [_column_class([row[column] for row in rows]) for column in range(len(headings))]
    head_row = tr[(th(f".{kind}", scope="col")[heading] for heading, kind in zip(headings, classes, strict=True))]
    lines = (tr(class_={"strong": index == strong_row})[_cells(row, classes)] for index, row in enumerate(rows))
    return div(".scroll", tabindex="0")[table_element[thead[head_row], tbody[lines]]]


def _column_class(cells: Sequence[str]) -> str:
    """Prose wraps and stands at the left, figures at the right."""
    return "prose" if max(map(len, cells), default=0) > _FIGURE_LENGTH_MAX else "figures"


def _cells(row: Sequence[str], classes: Sequence[str]) -> list[Element]:
    name, *others = row
    return [th(scope="row")[name], *(td(f".{kind}")[cell] for cell, kind in zip(others, classes[1:], strict=True))]


def _declared(colours: Mapping[str, Colour]) -> str:
    light = "".join(f".{name}{{--c:{colour.light}}}" for name, colour in colours.items())
    dark = "".join(f".{name}{{--c:{colour.dark}}}" for name, colour in colours.items())
    return f"{light}@media(prefers-color-scheme:dark){{{dark}}}"
