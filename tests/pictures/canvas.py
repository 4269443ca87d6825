"""What the pictures are drawn with: a theme, and a canvas of text, boxes and arrows over drawsvg."""

from collections.abc import Sequence
from dataclasses import dataclass

import drawsvg

from trireme.reports import Colour

_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
WIDTH = 680


@dataclass(frozen=True)
class Theme:
    """Colours on a light or a dark page, whose ground shines through."""

    name: str
    ground: str
    card: str
    ink: str
    soft: str
    line: str
    token: str

    def of(self, colour: Colour) -> str:
        """A colour of the reports in this theme."""
        return colour.dark if self.name == "dark" else colour.light


LIGHT = Theme("light", "#ffffff", "#f6f8fa", "#1b1f24", "#59636e", "#d1d9e0", "#a9b1ba")
DARK = Theme("dark", "#0d1117", "#161b22", "#e8ebef", "#9aa4b0", "#3d444d", "#6b7480")


class Canvas:
    """A drawing of one theme. Units are pixels; text stands on its base line."""

    def __init__(self, height: float, theme: Theme, title: str) -> None:
        self.theme = theme
        self._drawing = drawsvg.Drawing(WIDTH, height, font_family=_FONTS, role="img")
        self._drawing.append_title(title)

    def text(self, x: float, y: float, words: str, size: int, colour: str = "", **style: object) -> None:
        """Words; `text_anchor` middle or end moves them to the left of x."""
        self._drawing.append(drawsvg.Text(words, size, _px(x), _px(y), fill=colour or self.theme.ink, **style))

    def spans(self, x: float, y: float, parts: Sequence[tuple[str, str, int]], size: int) -> None:
        """Words of several colours and weights in one line."""
        line = drawsvg.Text([], size, _px(x), _px(y), xml__space="preserve")
        for words, colour, weight in parts:
            line.append(drawsvg.TSpan(words, fill=colour, font_weight=weight))
        self._drawing.append(line)

    def box(self, x: float, y: float, width: float, height: float, **style: object) -> None:
        """A rectangle."""
        self._drawing.append(drawsvg.Rectangle(_px(x), _px(y), _px(width), _px(height), **style))

    def line(self, *points: tuple[float, float], colour: str = "", width: float = 1.0) -> None:
        """A line through points."""
        path = drawsvg.Lines(*(_px(part) for point in points for part in point), fill="none", stroke_width=width)
        path.args["stroke"] = colour or self.theme.line
        self._drawing.append(path)

    def arrow(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """A straight arrow, along or across."""
        (x, y), (to_x, to_y) = start, end
        along, across = _sign(to_x - x), _sign(to_y - y)
        self.line(start, (to_x - 2 * along, to_y - 2 * across), colour=self.theme.soft, width=2)
        back = (to_x - 8 * along, to_y - 8 * across)
        wings = [(back[0] - 5 * across, back[1] - 5 * along), (back[0] + 5 * across, back[1] + 5 * along)]
        corners = [_px(part) for point in (wings[0], end, wings[1]) for part in point]
        self._drawing.append(drawsvg.Lines(*corners, close=True, fill=self.theme.soft))

    def svg(self) -> str:
        """The picture as a file."""
        return f"{self._drawing.as_svg()}\n"


def _px(value: float) -> float:
    """A coordinate, short enough to be read in a diff."""
    return round(value, 1)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
