"""The benchmark's results as tables, as JSON, and as one page that needs nothing beside itself."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import orjson
from rich.table import Table

from loadtest.bench.figures import (
    STEP_HEADINGS,
    TARGET_HEADINGS,
    concurrencies_of,
    step_rows,
    target_row,
    targets_of,
)
from loadtest.bench.page import page_of
from loadtest.bench.run import BenchSpec, Measurement


def tables(measurements: Sequence[Measurement]) -> list[Table]:
    """A table of medians for every concurrency, and one of the steps of every Triton target."""
    medians = [_table(measurements, concurrency) for concurrency in concurrencies_of(measurements)]
    steps = Table(*STEP_HEADINGS, title="steps, last round")
    for row in step_rows(measurements):
        steps.add_row(*row)
    return [*medians, steps]


def write(spec: BenchSpec, measurements: Sequence[Measurement], folder: Path, name: str) -> None:
    """Write `bench-NAME.json` and `.html` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(spec, measurements, folder / f"bench-{name}.json")
    (folder / f"bench-{name}.html").write_text(page_of(spec, measurements), encoding="utf-8")


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


def _table(measurements: Sequence[Measurement], concurrency: int) -> Table:
    table = Table(*TARGET_HEADINGS, title=f"{concurrency} in flight, medians, latencies in ms")
    for target in targets_of(measurements):
        table.add_row(*target_row(measurements, target, concurrency))
    return table
