"""The benchmark's page: who answers how many texts, how late, and how far below its ceiling, at one glance.

A server keeps its colour and its place in every chart. Ours are those whose ceiling was measured: they have the strong
colours. A ceiling is no server, so it is a mark on the row of the server that it limits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from htpy import Node, fragment, h2, p, strong

from loadtest.bench.figures import STEP_HEADINGS, TARGET_HEADINGS, concurrencies_of, step_rows, target_row, targets_of
from loadtest.bench.run import BenchSpec, Measurement, ceiling_of, has_ceiling, median_of
from trireme.reports import (
    Bar,
    Chart,
    Colour,
    Emphasis,
    LegendEntry,
    axis_from_zero,
    charts_beside,
    legend,
    muted_colours,
    number,
    page,
    ratio,
    strong_colours,
    table,
)

_RATE, _LATENCY = "texts_per_s", "p99_ms"
_NO_ANSWER = "no answer"


def page_of(spec: BenchSpec, measurements: Sequence[Measurement]) -> str:
    """The page as a file."""
    shown = _Shown(measurements)
    busiest_first = sorted(concurrencies_of(measurements), reverse=True)
    content = fragment[
        p(".lead")[shown.headline()],
        p(".soft")[
            f"Release {spec.release}; medians of {spec.rounds} rounds of {spec.seconds:g} s, in which all took turns "
            f"on the same machine. Ratios are to {shown.base}'s figures."
        ],
        legend([*(LegendEntry(shown.colour[server], server) for server in shown.servers), *_ceiling_entry(shown)]),
        [_charts(shown, concurrency) for concurrency in busiest_first],
        h2["The exact numbers"],
        p(".soft")["Latencies in ms. The ceiling is the same engine and tokenizer in one process without a server."],
        [_numbers(shown, concurrency) for concurrency in busiest_first],
        _steps(measurements),
    ]
    return page(f"How fast {spec.pipeline} is served", shown.colours(), content)


@dataclass(frozen=True)
class _Shown:
    """What was measured, as the page shows it."""

    measurements: Sequence[Measurement]

    @cached_property
    def busiest(self) -> int:
        return max(concurrencies_of(self.measurements))

    @cached_property
    def servers(self) -> list[str]:
        """Every server, the one that answers most under the highest load first."""
        every = targets_of(self.measurements)
        ceilings = {ceiling_of(target) for target in every}
        found = [target for target in every if target not in ceilings]
        return sorted(found, key=lambda server: -self.median(server, self.busiest, _RATE))

    @cached_property
    def ours(self) -> list[str]:
        return [server for server in self.servers if has_ceiling(self.measurements, server)]

    @cached_property
    def peers(self) -> list[str]:
        return [server for server in self.servers if server not in self.ours]

    @cached_property
    def base(self) -> str:
        """The server that ratios are to: the fastest of the others, or our own fastest where there is no other."""
        return (self.peers or self.servers)[0]

    @cached_property
    def colour(self) -> dict[str, str]:
        """The CSS class of every server."""
        return {server: f"server-{place}" for place, server in enumerate([*self.ours, *self.peers])}

    def colours(self) -> dict[str, Colour]:
        """What the classes stand for."""
        found = [*strong_colours(len(self.ours)), *muted_colours(len(self.peers))]
        return dict(zip(self.colour.values(), found, strict=True))

    def median(self, target: str, concurrency: int, name: str) -> float:
        return median_of(self.measurements, target, concurrency, name)

    def headline(self) -> Node:
        """What a reader should remember."""
        best = (self.ours or self.servers)[0]
        rate, base = (self.median(server, self.busiest, _RATE) for server in (best, self.base))
        told = [f"{_in_flight(self.busiest)}: ", strong[best], f" answers {number(rate)} texts/s"]
        return [*told, f", {ratio(rate, base)} as many as {self.base}." if best != self.base and base else "."]


def _ceiling_entry(shown: _Shown) -> list[LegendEntry]:
    return (
        [LegendEntry("marked", "its ceiling, the same engine without a server, and how much of it is reached")]
        if shown.ours
        else []
    )


def _charts(shown: _Shown, concurrency: int) -> Node:
    rates = [_bar(shown, server, concurrency, _RATE) for server in shown.servers]
    latencies = [_bar(shown, server, concurrency, _LATENCY) for server in shown.servers]
    charts = (
        Chart("texts/s", "more is better", rates, axis_from_zero(_values(rates))),
        Chart("p99 latency, ms", "less is better", latencies, axis_from_zero(_values(latencies))),
    )
    return fragment[h2[_in_flight(concurrency)], charts_beside(charts)]


def _in_flight(concurrency: int) -> str:
    return f"{concurrency} request{'' if concurrency == 1 else 's'} in flight"


def _values(bars: Sequence[Bar]) -> list[float]:
    return [value for bar in bars for value in (bar.value, bar.mark) if value is not None]


def _bar(shown: _Shown, server: str, concurrency: int, name: str) -> Bar:
    value, base = (shown.median(each, concurrency, name) for each in (server, shown.base))
    emphasis = Emphasis.STRONG if server in shown.ours else Emphasis.PLAIN
    if not value:
        return Bar(server, shown.colour[server], None, _NO_ANSWER, emphasis=emphasis)
    mark, mark_label = None, ""
    if name == _RATE and server in shown.ours:
        mark = shown.median(ceiling_of(server), concurrency, name)
        mark_label = f"{value / mark:.0%}"
    aside = ratio(value, base) if base else ""
    return Bar(server, shown.colour[server], value, number(value), aside, mark, mark_label, emphasis)


def _numbers(shown: _Shown, concurrency: int) -> Node:
    """The exact numbers of every server, and of its ceiling below it."""
    limited = {server: [ceiling_of(server)] for server in shown.ours}
    targets = [target for server in shown.servers for target in (server, *limited.get(server, []))]
    rows = [target_row(shown.measurements, target, concurrency) for target in targets]
    return table([f"{concurrency} in flight", *TARGET_HEADINGS[1:]], rows)


def _steps(measurements: Sequence[Measurement]) -> Node:
    rows = list(step_rows(measurements))
    return fragment[h2["Steps, last round"], table(STEP_HEADINGS, rows)] if rows else None
