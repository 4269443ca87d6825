"""A chart of named bars as HTML: each labelled at its end, with a mark for what it is held against.

Where the axis starts at zero a value is a bar, whose length tells it. Elsewhere (a logarithmic axis, or one that shows
small differences) a length would lie, and the value is a dot at the end of a thin stem.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from htpy import Element, Node, figcaption, figure, fragment, li, ol, small, span, strong

from trireme.reports.axis import Axis

_LABEL_ROOM = 0.35
"""The share of an axis that a label takes."""


class Emphasis(Enum):
    """How much a bar should be seen."""

    STRONG = "strong"
    PLAIN = "plain"
    REFUSED = "refused"


@dataclass(frozen=True)
class Bar:
    """One value. `label` stands at its end, `aside` smaller behind it; `mark` is a value that it is held against.

    `mark_label` stands behind the mark.
    """

    name: str
    colour: str
    value: float | None
    label: str
    aside: str = ""
    mark: float | None = None
    mark_label: str = ""
    emphasis: Emphasis = Emphasis.PLAIN


@dataclass(frozen=True)
class Chart:
    """Bars on one axis; `colour` of a bar is a CSS class that the page declares."""

    title: str
    hint: str
    bars: Sequence[Bar]
    axis: Axis
    tick_label: Callable[[float], str] = "{:,.6g}".format

    def element(self) -> Element:
        """The chart; charts beside each other have the same bars in the same order, so that rows align."""
        return figure(".chart", style=f"--grid:{self._grid()};--label:{self._label_rem():.1f}rem")[
            figcaption[strong[self.title], small[self.hint]],
            ol(".bars")[(self._row(bar) for bar in self.bars)],
            span(".axis")[
                span(".plot", aria_hidden="true")[(self._tick(value) for value in self.axis.ticks())],
                small[self.axis.caution],
            ],
        ]

    def _label_rem(self) -> float:
        """The room that the longest label wants behind the axis."""
        longest = max((len(bar.label) + len(bar.aside) + 2 * bool(bar.aside) for bar in self.bars), default=0)
        return 0.9 + 0.52 * longest

    def _grid(self) -> str:
        """A hairline at every tick, as the background of every row."""
        places = (f"{100 * self.axis.place(value):.2f}%" for value in self.axis.ticks())
        return ",".join(f"linear-gradient(var(--line),var(--line)) {place} 0/1px 100% no-repeat" for place in places)

    def _tick(self, value: float) -> Element:
        return span(".tick", style=_left(self.axis.place(value)))[self.tick_label(value)]

    def _row(self, bar: Bar) -> Element:
        return li(class_=[bar.colour, bar.emphasis.value], title=_told(bar))[
            span(".name")[bar.name],
            span(".plot")[self._drawn(bar), self._marked(bar), self._labelled(bar)],
        ]

    def _drawn(self, bar: Bar) -> Element | None:
        if bar.value is None:
            return None
        shape = ".bar" if self.axis.is_from_zero else ".bar.stem"
        return span(shape, style=f"width:{100 * self.axis.place(bar.value):.2f}%")

    def _marked(self, bar: Bar) -> Node:
        if bar.mark is None:
            return None
        at = _left(self.axis.place(bar.mark))
        return fragment[
            span(".mark", style=at), span(".label", style=at)[small[bar.mark_label]] if bar.mark_label else None
        ]

    def _labelled(self, bar: Bar) -> Element:
        """The label at the bar's end: behind it, or inside where a mark may stand too close behind it."""
        words = (bar.label, bar.aside and small(".aside")[bar.aside])
        end = 0.0 if bar.value is None else self.axis.place(bar.value)
        if bar.mark is None:
            return span(".label", style=_left(end))[words]
        if not self.axis.is_from_zero:
            return span(".label", style=_left(1.0))[words]
        if end > _LABEL_ROOM:
            return span(".label.inside", style=f"right:{100 * (1 - end):.2f}%")[words]
        mark = self.axis.place(bar.mark)
        return span(".label", style=_left(end if mark - end > _LABEL_ROOM else mark))[words]


def _left(place: float) -> str:
    return f"left:{100 * place:.2f}%"


def _told(bar: Bar) -> str:
    """What a pointer that rests on the row is told."""
    told = f"{bar.name}: {bar.label}{f', {bar.aside}' if bar.aside else ''}"
    return f"{told}; {bar.mark_label}" if bar.mark_label else told
