"""A benchmark's exact numbers as words, for the terminal and for the page."""

from collections.abc import Iterator, Sequence

from loadtest.bench.run import Measurement, ceiling_of, has_ceiling, median_of, spread_of
from loadtest.bench.target import SERVER

_LATENCIES = ("p50_ms", "p95_ms", "p99_ms")
_RATES = ("texts/s", "±", "p50", "p95", "p99", "CPU ms/text", "generator CPU")
TARGET_HEADINGS = ("target", *_RATES, "MiB", "padding", "of ceiling", "failed")
STEP_HEADINGS = ("target", "in flight", "step", "mean batch", "queue ms", "compute ms", "CPU ms/text")


def targets_of(measurements: Sequence[Measurement]) -> list[str]:
    """Every target and every ceiling, in the order in which they were measured."""
    return list(dict.fromkeys(m.target for m in measurements))


def concurrencies_of(measurements: Sequence[Measurement]) -> list[int]:
    """Every number of requests in flight, the smallest first."""
    return sorted({m.concurrency for m in measurements})


def target_row(measurements: Sequence[Measurement], target: str, concurrency: int) -> list[str]:
    """The medians of a target, as `TARGET_HEADINGS` names them."""

    def figure(name: str) -> float:
        return median_of(measurements, target, concurrency, name)

    failed = sum(m.failures for m in measurements if (m.target, m.concurrency) == (target, concurrency))
    return [
        target,
        f"{figure('texts_per_s'):.0f}",
        f"{spread_of(measurements, target, concurrency, 'texts_per_s'):.0%}",
        *(_where_known(figure(name), ".2f") for name in _LATENCIES),
        f"{figure('cpu_ms_per_text'):.3f}",
        _where_known(figure("generator_cpu_share"), ".0%"),
        _where_known(figure("memory_mib"), ".0f"),
        _where_known(figure("padding_share"), ".1%"),
        _share_of_ceiling(measurements, target, concurrency),
        str(failed or ""),
    ]


def step_rows(measurements: Sequence[Measurement]) -> Iterator[list[str]]:
    """What the steps of every Triton target did in the last round, as `STEP_HEADINGS` names it."""
    last = max(m.round for m in measurements)
    for measurement in measurements:
        if measurement.round == last and measurement.steps:
            for row in _steps_of(measurement):
                yield [measurement.target, str(measurement.concurrency), *row]


def _where_known(value: float, form: str) -> str:
    """A figure that is zero was not measured: a ceiling has no latency, and nobody knows what a peer pads."""
    return format(value, form) if value else ""


def _share_of_ceiling(measurements: Sequence[Measurement], target: str, concurrency: int) -> str:
    if not has_ceiling(measurements, target):
        return ""
    own, ceiling = (median_of(measurements, each, concurrency, "texts_per_s") for each in (target, ceiling_of(target)))
    return f"{own / ceiling:.2f}"


def _steps_of(measurement: Measurement) -> Iterator[tuple[str, ...]]:
    cpu_ms = measurement.cpu_ms_by_part
    for step, facts in measurement.steps.items():
        own = sum(value for part, value in cpu_ms.items() if part.endswith(f"_{step}"))
        figures = (facts.mean_batch, facts.queue_ms, facts.compute_ms)
        yield step, *(f"{value:.2f}" for value in figures), f"{own:.3f}"
    yield "Triton itself", "", "", "", f"{cpu_ms.get(SERVER, 0.0):.3f}"
