"""The benchmark on the real Triton: what it prints is what Triton counted."""

import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from loadtest.bench import generator
from loadtest.bench.behaviour import measure_behaviour, measure_start, table
from loadtest.bench.report import tables, write
from loadtest.bench.run import FLUSH_S, BenchSpec, Measurement, run
from loadtest.bench.target import Target, triton_target
from loadtest.bench.triton_statistics import Counts, facts_between, read_counts
from tests.conftest import ROOT
from trireme.serving import ServerSpec, start

REVIEWS = ROOT / "examples/sentiment/reviews.txt"
IN_FLIGHT = 64
READINGS_MAX = 20


@pytest.fixture(scope="module")
def spec(repository: Path) -> BenchSpec:
    """One short round."""
    return BenchSpec(repository, "sentiment", 1, REVIEWS, (IN_FLIGHT,), rounds=1, seconds=1.0)


@pytest.fixture(scope="module")
def target(repository: Path) -> Iterator[Target]:
    """A server of its own, since its counters are compared."""
    with start(ServerSpec(repository, 0, 0, 0)) as server:
        yield triton_target("sentiment", server)


def counters(target: Target) -> dict[str, float]:
    """The encoder's counters as Prometheus reads them."""
    with urllib.request.urlopen(target.metrics_url, timeout=10) as answer:
        lines = [line for line in answer.read().decode().splitlines() if 'model="sentiment_encoder"' in line]
    found: dict[str, float] = {}
    for line in lines:
        name, value = line.split("{")[0], float(line.rsplit(" ", 1)[1])
        found[name] = found.get(name, 0.0) + value
    return found


def both_readings(target: Target) -> tuple[Counts, dict[str, float]]:
    """The benchmark's reading and Prometheus' with nothing between them: supervision asks for a row now and then."""
    time.sleep(FLUSH_S)
    for _ in range(READINGS_MAX):
        read, counted = read_counts(target), counters(target)
        if read_counts(target) == read:
            return read, counted
    raise AssertionError(f"the server was never still in {READINGS_MAX} readings")


@pytest.fixture(scope="module")
def measured(spec: BenchSpec, target: Target) -> list[Measurement]:
    """What the benchmark measured."""
    return run(spec, [target], lambda _: None)


def test_mean_batch_and_padding_are_what_prometheus_counted(spec: BenchSpec, target: Target) -> None:
    before, counted_before = both_readings(target)
    generator.run(target.url, target.requests(spec.texts()), IN_FLIGHT, 2.0)
    after, counted_after = both_readings(target)
    steps, padding_share = facts_between(before, after)
    moved = {name: value - counted_before.get(name, 0.0) for name, value in counted_after.items()}
    padding, tokens = (moved[f"trireme_encoder_{name}_total"] for name in ("padding_tokens", "tokens"))
    assert steps["encoder"].mean_batch == pytest.approx(moved["nv_inference_count"] / moved["nv_inference_exec_count"])
    assert padding_share == pytest.approx(padding / (padding + tokens))


def test_padding_stays_under_8_percent_at_64_in_flight(measured: list[Measurement]) -> None:
    (ours,) = (each for each in measured if each.steps)
    assert 0 < ours.padding_share < 0.08


def test_the_report_names_every_target_and_its_ceiling(
    spec: BenchSpec, measured: list[Measurement], tmp_path: Path
) -> None:
    write(spec, measured, tmp_path, "sentiment")
    page = (tmp_path / "bench-sentiment.html").read_text(encoding="utf-8")
    assert "Trireme sentiment" in page
    assert "ceiling of Trireme sentiment" in page
    assert "cdn" not in page.split("<body>")[0].lower()
    assert len(tables(measured)) == 2


def test_behaviour_is_measured_on_a_real_server(
    spec: BenchSpec, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loadtest.bench.behaviour._FIRST_S", 1.0)
    monkeypatch.setattr("loadtest.bench.behaviour._LATER_S", 1.0)
    found = [*measure_start(target, spec.texts()), *measure_behaviour(spec, target)]
    assert len({each.name for each in found}) == 5
    assert all(each.how for each in found)
    assert table(found, "demo").row_count == 5
