"""The picture of the speed: throughput of ours and of the others, with ceilings as marks."""

from tests.pictures.canvas import WIDTH, Canvas, Theme
from tests.pictures.results import Model, Results, Served
from trireme.reports import Axis, axis_from_zero, muted_colours, ratio, strong_colours

_ROW, _BAR, _HEAD, _GAP, _FOOT = 33, 19, 46, 26, 44
_LEFT, _RIGHT = 240, 60
_PLOT = WIDTH - _LEFT - _RIGHT
_LABEL_ROOM = 115
_INSIDE = {"text_anchor": "end", "font_weight": 650, "xml__space": "preserve"}
_NAME, _SMALL = 18, 16


def draw_speed(results: Results, theme: Theme) -> str:
    """The picture as SVG."""
    heights = [_HEAD + _ROW * len(model.pictured) for model in results.models]
    height = sum(heights) + _GAP * (len(heights) - 1) + _FOOT
    canvas = Canvas(height, theme, f"Texts a second, {results.requests_in_flight} requests in flight")
    colours = _colours(results, theme)
    top = 0.0
    for model, model_height in zip(results.models, heights, strict=True):
        _draw_model(canvas, model, f"texts/s, {results.requests_in_flight} in flight", colours, top)
        top += model_height + _GAP
    _draw_foot(canvas, height - 10)
    return canvas.svg()


def _colours(results: Results, theme: Theme) -> dict[str, str]:
    """One colour for each server, the same in all models."""
    pictured = [served for model in results.models for served in model.pictured]
    ours = list(dict.fromkeys(served.name for served in pictured if served.is_ours))
    peers = list(dict.fromkeys(served.name for served in pictured if not served.is_ours))
    found = [*strong_colours(len(ours)), *muted_colours(len(peers))]
    return {str(name): theme.of(colour) for name, colour in zip([*ours, *peers], found, strict=True)}


def _draw_model(canvas: Canvas, model: Model, unit: str, colours: dict[str, str], top: float) -> None:
    canvas.text(0, top + 21, model.name, 19, font_weight=650)
    canvas.text(WIDTH, top + 21, unit, _SMALL, canvas.theme.soft, text_anchor="end")
    canvas.line((0, top + 33), (WIDTH, top + 33))
    values = [value for served in model.pictured for value in (served.texts_per_s, served.ceiling) if value]
    base = next((served for served in model.pictured if not served.is_ours), model.pictured[0])
    for place, served in enumerate(model.pictured):
        middle = top + _HEAD + _ROW * (place + 0.5)
        label = ratio(served.texts_per_s, base.texts_per_s)
        _draw_row(canvas, served, label, colours[str(served.name)], (axis_from_zero(values), middle))


def _draw_row(canvas: Canvas, served: Served, ratio_label: str, colour: str, place: tuple[Axis, float]) -> None:
    axis, middle = place
    is_ours = served.is_ours
    name_colour = canvas.theme.ink if is_ours else canvas.theme.soft
    canvas.text(0, middle + 6, str(served.name), _NAME, name_colour, font_weight=650 if is_ours else 400)
    end, label = _LEFT + axis.place(served.texts_per_s) * _PLOT, (f"{served.texts_per_s:,.0f}", ratio_label)
    canvas.box(_LEFT, middle - _BAR / 2, end - _LEFT, _BAR, rx=3, fill=colour)
    if not served.ceiling:
        _draw_label(canvas, label, (end + 8, middle + 6), weight=400)
        return
    mark = _LEFT + axis.place(served.ceiling) * _PLOT
    canvas.box(mark - 1.5, middle - 12, 3, 24, rx=1, fill=canvas.theme.ink)
    if end - _LEFT > _LABEL_ROOM:
        canvas.text(end - 8, middle + 6, f"{label[0]}  {label[1]}", _SMALL, canvas.theme.ground, **_INSIDE)
        canvas.text(mark + 8, middle + 6, f"{served.share_of_ceiling:.0%}", _SMALL, canvas.theme.soft)
    else:
        _draw_label(canvas, label, (mark + 8, middle + 6), weight=650)


def _draw_label(canvas: Canvas, label: tuple[str, str], at: tuple[float, float], weight: int) -> None:
    """The value, and its ratio in softer ink, in one line."""
    parts = [(label[0], canvas.theme.ink, weight), (f"  {label[1]}", canvas.theme.soft, 400)]
    canvas.spans(*at, parts, _SMALL)


def _draw_foot(canvas: Canvas, base_line: float) -> None:
    canvas.box(1, base_line - 15, 3, 20, rx=1, fill=canvas.theme.ink)
    words = "ceiling: the same engine without a server. Ratios are to the fastest peer."
    canvas.text(14, base_line, words, _SMALL, canvas.theme.soft)
