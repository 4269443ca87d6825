"""One run: every target at every concurrency, alternating, in several rounds."""

import logging
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from loadtest.bench import ceiling, generator
from loadtest.bench.target import Target
from loadtest.bench.triton_statistics import StepFacts, facts_between, read_counts

FLUSH_S = 1.0
"""The steps send their counters to Triton twice a second."""

Progress = Callable[[str], None]
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BenchSpec:
    """What to measure and for how long; `release` of every pipeline in `repository` is what its ceiling loads."""

    repository: Path
    pipeline: str
    release: int
    corpus: Path
    concurrencies: tuple[int, ...] = (1, 8, 64)
    rounds: int = 3
    seconds: float = 5.0

    def __post_init__(self) -> None:
        if self.rounds < 1 or self.seconds <= 0 or not self.concurrencies:
            raise ValueError("a benchmark needs at least one round, one concurrency and a time above 0 s")

    def texts(self) -> list[str]:
        """The corpus, one text a line."""
        return [line for line in self.corpus.read_text(encoding="utf-8").split("\n") if line]


@dataclass(frozen=True)
class Measurement:
    """One target at one concurrency in one round. Times in milliseconds; CPU time is that of all server processes."""

    target: str
    concurrency: int
    round: int
    texts_per_s: float
    p50_ms: float = 0.0
    p95_ms: float = 0.0
    p99_ms: float = 0.0
    cpu_ms_per_text: float = 0.0
    generator_cpu_share: float = 0.0
    memory_mib: float = 0.0
    padding_share: float = 0.0
    engine_ms: float = 0.0
    failures: int = 0
    steps: dict[str, StepFacts] = field(default_factory=dict)
    cpu_ms_by_part: dict[str, float] = field(default_factory=dict)


def ceiling_of(target: str) -> str:
    """The name under which a target's in-process ceiling is measured."""
    return f"ceiling of {target}"


def has_ceiling(measurements: "Sequence[Measurement]", target: str) -> bool:
    """Whether a target's ceiling was measured."""
    return any(m.target == ceiling_of(target) for m in measurements)


def run(spec: BenchSpec, targets: Sequence[Target], progress: Progress) -> list[Measurement]:
    """Measure everything; gives a measurement for each target, concurrency and round."""
    texts = spec.texts()
    for target in targets:
        generator.run(target.url, target.requests(texts), max(spec.concurrencies), 1.0)
    return list(_measurements(spec, targets, texts, progress))


def _measurements(
    spec: BenchSpec, targets: Sequence[Target], texts: list[str], progress: Progress
) -> Iterator[Measurement]:
    for number in range(1, spec.rounds + 1):
        for concurrency in spec.concurrencies:
            progress(f"round {number} of {spec.rounds}, concurrency {concurrency}")
            for target in targets:
                if target.pipeline:
                    yield _ceiling(spec, target, concurrency, number)
                yield _sample(spec, target, texts, concurrency, number)


def _ceiling(spec: BenchSpec, target: Target, concurrency: int, number: int) -> Measurement:
    found = ceiling.measure(spec.repository, target.pipeline, spec.release, spec.corpus, concurrency, spec.seconds)
    return Measurement(
        ceiling_of(target.name),
        concurrency,
        number,
        found.texts_per_s,
        cpu_ms_per_text=found.cpu_ms_per_text,
        engine_ms=found.engine_ms,
    )


def _sample(spec: BenchSpec, target: Target, texts: list[str], concurrency: int, number: int) -> Measurement:
    before, cpu_s = read_counts(target) if target.grpc_url else None, target.cpu_s()
    sample = generator.run(target.url, target.requests(texts), concurrency, spec.seconds)
    spent = {part: seconds - cpu_s.get(part, 0.0) for part, seconds in target.cpu_s().items()}
    if sample.failures:
        _log.warning("%s: %d requests failed, the first: %s", target.name, sample.failures, sample.first_failure)
    if not sample.latencies_s:
        return Measurement(target.name, concurrency, number, 0.0, failures=sample.failures)
    if before:
        time.sleep(FLUSH_S)
    steps, padding = facts_between(before, read_counts(target)) if before else ({}, 0.0)
    p50, p95, p99 = (float(value) for value in np.percentile(sample.latencies_s, [50, 95, 99]) * 1e3)
    return Measurement(
        target.name,
        concurrency,
        number,
        sample.texts_per_s,
        p50,
        p95,
        p99,
        1e3 * sum(spent.values()) / len(sample.latencies_s),
        sample.cpu_s / sample.wall_s,
        target.memory_bytes() / 2**20,
        padding,
        failures=sample.failures,
        steps=steps,
        cpu_ms_by_part={part: 1e3 * seconds / len(sample.latencies_s) for part, seconds in spent.items()},
    )


def median_of(measurements: Sequence[Measurement], target: str, concurrency: int, name: str) -> float:
    """The median over rounds of one figure."""
    found = [getattr(m, name) for m in measurements if (m.target, m.concurrency) == (target, concurrency)]
    return float(statistics.median(found))


def spread_of(measurements: Sequence[Measurement], target: str, concurrency: int, name: str) -> float:
    """Half the distance between the largest and the smallest over rounds, as a share of the median."""
    found = [getattr(m, name) for m in measurements if (m.target, m.concurrency) == (target, concurrency)]
    middle = statistics.median(found)
    return (max(found) - min(found)) / 2 / middle if middle else 0.0
