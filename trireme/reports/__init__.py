"""How measured figures are shown to people: colours, axes, charts, and pages that need nothing beside themselves.

`trireme bench` and `trireme compare` write such pages. Neither may import the other, so what both draw with stands
below them. A page is HTML and CSS alone: no script, no network, one file. It follows the reader's light or dark theme,
and the charts stack where the window is narrow, which a library that draws to pixels cannot do.
"""

from trireme.reports.axis import Axis, axis_from_zero, axis_of_close_values, number, ratio
from trireme.reports.chart import Bar, Chart, Emphasis
from trireme.reports.colours import Colour, muted_colours, strong_colours
from trireme.reports.page import LegendEntry, charts_beside, legend, page, table

__all__ = [
    "Axis",
    "Bar",
    "Chart",
    "Colour",
    "Emphasis",
    "LegendEntry",
    "axis_from_zero",
    "axis_of_close_values",
    "charts_beside",
    "legend",
    "muted_colours",
    "number",
    "page",
    "ratio",
    "strong_colours",
    "table",
]
