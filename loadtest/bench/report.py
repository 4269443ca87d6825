"""The benchmark's results as tables, JSON, and one self-contained HTML page with plots."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import orjson
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from rich.table import Table

from loadtest.bench.run import BenchSpec, Measurement, ceiling_of, has_ceiling, median_of, spread_of
from loadtest.bench.target import SERVER

_LATENCIES = ("p50_ms", "p95_ms", "p99_ms")


def tables(measurements: Sequence[Measurement]) -> list[Table]:
    """A table of medians for every concurrency, and one of the steps of every Triton target."""
    concurrencies = sorted({m.concurrency for m in measurements})
    return [*(_table(measurements, concurrency) for concurrency in concurrencies), _step_table(measurements)]


def write(spec: BenchSpec, measurements: Sequence[Measurement], folder: Path, name: str) -> None:
    """Write `bench-NAME.json` and `.html` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(spec, measurements, folder / f"bench-{name}.json")
    _write_html(spec, measurements, folder / f"bench-{name}.html")


def _write_json(spec: BenchSpec, measurements: Sequence[Measurement], path: Path) -> None:
    """Every measurement of every round."""
    content = {
        "pipeline": spec.pipeline,
        "release": spec.release,
        "rounds": spec.rounds,
        "seconds": spec.seconds,
        "measurements": [asdict(measurement) for measurement in measurements],
    }
    path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))


def _write_html(spec: BenchSpec, measurements: Sequence[Measurement], path: Path) -> None:
    """Throughput and p99 of every target against concurrency."""
    figure = make_subplots(cols=2, subplot_titles=("texts a second", "p99, ms"))
    for target in _targets(measurements):
        concurrencies = sorted({m.concurrency for m in measurements if m.target == target})
        for column, name in ((1, "texts_per_s"), (2, "p99_ms")):
            if target.startswith("ceiling") and column == 2:
                continue
            values = [median_of(measurements, target, concurrency, name) for concurrency in concurrencies]
            labels = [str(concurrency) for concurrency in concurrencies]
            bars = go.Bar(x=labels, y=values, name=target, legendgroup=target, showlegend=column == 1)
            figure.add_trace(bars, row=1, col=column)
    title = f"{spec.pipeline} release {spec.release}: medians of {spec.rounds} rounds of {spec.seconds:g} s"
    figure.update_layout(title=title, barmode="group", template="plotly_white")
    figure.update_xaxes(title_text="requests in flight")
    figure.write_html(path, include_plotlyjs=True)


def _targets(measurements: Sequence[Measurement]) -> list[str]:
    return list(dict.fromkeys(m.target for m in measurements))


def _table(measurements: Sequence[Measurement], concurrency: int) -> Table:
    times = ("texts/s", "±", "p50", "p95", "p99", "CPU ms/text", "generator CPU")
    title = f"{concurrency} in flight, medians, latencies in ms"
    table = Table("target", *times, "MiB", "padding", "of ceiling", "failed", title=title)
    for target in _targets(measurements):

        def figure(name: str, target: str = target) -> float:
            return median_of(measurements, target, concurrency, name)

        latencies = [f"{figure(name):.2f}" if figure(name) else "" for name in _LATENCIES]
        share = ""
        if has_ceiling(measurements, target):
            share = (
                f"{figure('texts_per_s') / median_of(measurements, ceiling_of(target), concurrency, 'texts_per_s'):.2f}"
            )
        failed = sum(m.failures for m in measurements if (m.target, m.concurrency) == (target, concurrency))
        table.add_row(
            target,
            f"{figure('texts_per_s'):.0f}",
            f"{spread_of(measurements, target, concurrency, 'texts_per_s'):.0%}",
            *latencies,
            f"{figure('cpu_ms_per_text'):.3f}",
            f"{figure('generator_cpu_share'):.0%}",
            f"{figure('memory_mib'):.0f}",
            f"{figure('padding_share'):.1%}",
            share,
            str(failed or ""),
        )
    return table


def _step_table(measurements: Sequence[Measurement]) -> Table:
    columns = ("target", "in flight", "step", "mean batch", "queue ms", "compute ms", "CPU ms/text")
    table = Table(*columns, title="steps, last round")
    last = max(m.round for m in measurements)
    for measurement in measurements:
        if measurement.round == last and measurement.steps:
            for row in _step_rows(measurement):
                table.add_row(measurement.target, str(measurement.concurrency), *row)
    return table


def _step_rows(measurement: Measurement) -> Iterator[tuple[str, ...]]:
    cpu_ms = measurement.cpu_ms_by_part
    for step, facts in measurement.steps.items():
        own = sum(value for part, value in cpu_ms.items() if part.endswith(f"_{step}"))
        figures = (facts.mean_batch, facts.queue_ms, facts.compute_ms)
        yield step, *(f"{value:.2f}" for value in figures), f"{own:.3f}"
    yield "Triton itself", "", "", "", f"{cpu_ms.get(SERVER, 0.0):.3f}"
