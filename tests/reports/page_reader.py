"""Reads a report's page as a tree, so that tests can ask for what a reader sees."""

from collections.abc import Iterator
from html.parser import HTMLParser
from xml.etree.ElementTree import Element, TreeBuilder

_VOID = {"meta"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.builder = TreeBuilder()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.builder.start(tag, {name: value or "" for name, value in attrs})
        if tag in _VOID:
            self.builder.end(tag)

    def handle_endtag(self, tag: str) -> None:
        self.builder.end(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.builder.data(data)


def read(page: str) -> Element:
    """The page's tree."""
    reader = _Reader()
    reader.feed(page)
    return reader.builder.close()


def of_class(tree: Element, name: str) -> list[Element]:
    """The elements of a CSS class."""
    return [each for each in tree.iter() if name in each.get("class", "").split()]


def text_of(element: Element) -> str:
    """What an element says, a blank between its parts."""
    return " ".join(" ".join(element.itertext()).split())


def bars_of(tree: Element) -> Iterator[tuple[str, dict[str, Element]]]:
    """Every chart's title and its rows by their names."""
    for chart in of_class(tree, "chart"):
        title = text_of(next(iter(chart.iter("strong"))))
        yield title, {text_of(of_class(row, "name")[0]): row for row in chart.iter("li")}


def width_of(row: Element) -> float | None:
    """How long a row's bar is, in percent of the axis; None where there is no bar."""
    bars = of_class(row, "bar")
    return float(bars[0].get("style", "").removeprefix("width:").removesuffix("%")) if bars else None


def mark_of(row: Element) -> float | None:
    """Where a row's mark stands, in percent of the axis."""
    marks = of_class(row, "mark")
    return float(marks[0].get("style", "").removeprefix("left:").removesuffix("%")) if marks else None
