"""The page of a comparison: what each candidate weighs, how fast it is and what it loses, and which one to take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from htpy import Node, code, fragment, h2, li, p, span, strong, ul

from converters.compare import CandidateRow, Variant, recommend
from converters.measure import Figures
from text_runtime.manifest import REFUSED, EvaluationFacts
from trireme.reports import (
    Bar,
    Chart,
    Emphasis,
    LegendEntry,
    axis_from_zero,
    axis_of_close_values,
    charts_beside,
    legend,
    muted_colours,
    number,
    page,
    ratio,
    strong_colours,
    table,
)

_RECOMMENDED, _OTHER = "recommended", "other"


@dataclass(frozen=True)
class _Shown:
    """A candidate that was measured, as the charts show it."""

    row: CandidateRow
    figures: Figures
    facts: EvaluationFacts
    agreement: float
    is_best: bool

    @property
    def name(self) -> str:
        return str(self.row.variant)

    @property
    def mib(self) -> float:
        return self.figures.size_bytes / 2**20

    def bar(self, value: float, label: str, aside: str = "", mark: float | None = None) -> Bar:
        """A bar in the look of the candidate."""
        is_refused = self.row.status == REFUSED
        emphasis = Emphasis.STRONG if self.is_best else Emphasis.REFUSED if is_refused else Emphasis.PLAIN
        return Bar(self.name, _RECOMMENDED if self.is_best else _OTHER, value, label, aside, mark, emphasis=emphasis)


def page_of(rows: Sequence[CandidateRow], command: str, headings: Sequence[str], lines: Sequence[list[str]]) -> str:
    """The page as a file.

    Args:
        rows: every candidate.
        command: what exports the recommended one; empty where there is none.
        headings: of the table of exact numbers.
        lines: of the table, a candidate each, in the order of the rows.
    """
    best = recommend(rows)
    content = fragment[
        _advice(best, command),
        _charts(_measured(rows, best)),
        _reasons(rows),
        h2["The exact numbers"],
        table(headings, lines, None if best is None else rows.index(best)),
    ]
    colours = {_RECOMMENDED: strong_colours(1)[0], _OTHER: muted_colours(1)[0]}
    return page("Precisions compared", colours, content)


def _advice(best: CandidateRow | None, command: str) -> Node:
    if best is None:
        return p(".lead")["No candidate passed."]
    start, *options = command.split(" --")
    words = [span[start], *(span[f"--{option}"] for option in options)]
    return [p(".lead")["Recommended: ", strong[str(best.variant)]], code[((word, " ") for word in words)]]


def _measured(rows: Sequence[CandidateRow], best: CandidateRow | None) -> list[_Shown]:
    """The candidates that have figures, the fastest first."""
    found = [
        _Shown(row, row.figures, row.evaluation, row.agreement, row is best)
        for row in rows
        if row.figures and row.evaluation and row.agreement is not None
    ]
    return sorted(found, key=lambda shown: -shown.figures.texts_per_s)


def _charts(measured: Sequence[_Shown]) -> Node:
    if not measured:
        return None
    fp32 = [shown for shown in measured if _is_whole_fp32(shown.row.variant)]
    base = (fp32 or measured)[0]
    charts = (
        _from_zero(measured, base, "texts/s", "more is better", lambda shown: shown.figures.texts_per_s),
        _from_zero(measured, base, "size, MiB", "less is better", lambda shown: shown.mib),
        _agreement(measured),
        _metric(measured),
    )
    return [
        legend([*_status_entries(measured), LegendEntry("marked", "the source's own result")]),
        charts_beside(charts),
        p(".soft")[f"Ratios are to {base.name}. Agreement is with the answers of fp32."],
    ]


def _status_entries(measured: Sequence[_Shown]) -> list[LegendEntry]:
    """An entry for each status that is there."""
    is_refused = {shown.row.status == REFUSED for shown in measured if not shown.is_best}
    entries = {
        LegendEntry(_RECOMMENDED, "recommended"): any(shown.is_best for shown in measured),
        LegendEntry(_OTHER, "passed"): False in is_refused,
        LegendEntry(f"{_OTHER} refused", "refused by a gate"): True in is_refused,
    }
    return [entry for entry, is_there in entries.items() if is_there]


def _from_zero(
    measured: Sequence[_Shown], base: _Shown, title: str, hint: str, value_of: Callable[[_Shown], float]
) -> Chart:
    values = [value_of(shown) for shown in measured]
    bars = [
        shown.bar(value, number(value), ratio(value, value_of(base)))
        for shown, value in zip(measured, values, strict=True)
    ]
    return Chart(title, hint, bars, axis_from_zero(values))


def _agreement(measured: Sequence[_Shown]) -> Chart:
    bars = [shown.bar(shown.agreement, f"{shown.agreement:.1%}") for shown in measured]
    axis = axis_of_close_values([shown.agreement for shown in measured])
    return Chart("agreement", "more is better", bars, axis, _percent)


def _metric(measured: Sequence[_Shown]) -> Chart:
    bars = [
        shown.bar(shown.facts.value, f"{shown.facts.value:.3f}", mark=shown.facts.source_value) for shown in measured
    ]
    axis = axis_of_close_values(
        [value for shown in measured for value in (shown.facts.value, shown.facts.source_value)]
    )
    return Chart(measured[0].facts.metric, "more is better", bars, axis)


def _percent(value: float) -> str:
    return f"{100 * value:.4g}%"


def _reasons(rows: Sequence[CandidateRow]) -> Node:
    """Why candidates were refused, or could not be measured."""
    refused = [row for row in rows if row.reason]
    if not refused:
        return None
    return [
        h2["Refused or failed"],
        ul(".reasons")[(li[strong[str(row.variant)], ": ", row.reason] for row in refused)],
    ]


def _is_whole_fp32(variant: Variant) -> bool:
    return variant.choice.precision == "fp32" and not variant.pruning
