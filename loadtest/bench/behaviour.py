"""How a served pipeline behaves beyond its throughput: just started, for long, alone, doubled, and on long texts."""

import re
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from loadtest.bench import ceiling, generator
from loadtest.bench.generator import Sample
from loadtest.bench.run import FLUSH_S, BenchSpec
from loadtest.bench.target import Target
from loadtest.bench.triton_statistics import read_counts

_IN_FLIGHT = 64
_SHORT_TOKENS, _LONG_TOKENS, _SPECIAL_TOKENS = 20, 120, 2
_FIRST_S, _LATER_S = 10.0, 70.0
_NOT_ONE_TOKEN_A_CHARACTER = re.compile(r"[^\u4e00-\u9fff]")


@dataclass(frozen=True)
class Behaviour:
    """One measured behaviour, the most that it should be, and how it was measured."""

    name: str
    value: float
    limit: float
    how: str

    @property
    def is_kept(self) -> bool:
        """Whether it is within its limit."""
        return self.value <= self.limit


def measure_start(target: Target, texts: Sequence[str]) -> list[Behaviour]:
    """The first seconds after ready, and whether a server keeps its pace. Call it on one that nobody has asked yet.

    What Triton publishes of the last minute is full only after a minute of load.
    """
    sample = generator.run(target.url, target.requests(texts), _IN_FLIGHT, _FIRST_S + _LATER_S)
    return [_first_seconds(sample), _lasting(sample)]


def measure_behaviour(spec: BenchSpec, target: Target) -> list[Behaviour]:
    """All that a server shows once it is warm; medians over the spec's rounds, which alternate."""
    texts = spec.texts()
    return [_alone(spec, target, texts), _doubled(spec, target, texts), _long_texts(spec, target, texts)]


def table(behaviours: Sequence[Behaviour], title: str) -> Table:
    """The behaviours as a table."""
    made = Table("behaviour", "measured", "at most", "", "how", title=title)
    for each in behaviours:
        made.add_row(each.name, f"{each.value:.2f}", f"{each.limit:.2f}", "yes" if each.is_kept else "NO", each.how)
    return made


def _first_seconds(sample: Sample) -> Behaviour:
    latencies, ended = np.array(sample.latencies_s), np.array(sample.ended_at_s)
    first, later = (float(np.percentile(latencies[where], 99)) for where in (ended < _FIRST_S, ended >= _FIRST_S))
    how = f"p99 {first * 1e3:.0f} ms in the first {_FIRST_S:.0f} s, {later * 1e3:.0f} ms later"
    return Behaviour("first seconds: p99 relative to later", first / later, 1.5, how)


def _lasting(sample: Sample) -> Behaviour:
    ended = np.array(sample.ended_at_s)
    begin, end = (int(where.sum()) / _FIRST_S for where in (ended < _FIRST_S, ended >= _LATER_S))
    how = f"{begin:.0f} texts/s in the first {_FIRST_S:.0f} s, {end:.0f} from {_LATER_S:.0f} s on"
    return Behaviour("lasting load: share of throughput lost", 1 - end / begin, 0.1, how)


def _alone(spec: BenchSpec, target: Target, texts: Sequence[str]) -> Behaviour:
    def overhead() -> Iterator[tuple[float, float]]:
        for _ in range(spec.rounds):
            sample = generator.run(target.url, target.requests(texts), 1, spec.seconds)
            found = ceiling.measure(spec.repository, target.pipeline, spec.release, spec.corpus, 1, spec.seconds)
            yield 1e3 * statistics.median(sample.latencies_s), found.engine_ms

    p50, engine = (statistics.median(column) for column in zip(*overhead(), strict=True))
    how = f"p50 {p50:.2f} ms, the engine's own time {engine:.2f} ms"
    return Behaviour("1 in flight: ms above the engine", p50 - engine, 1.5, how)


def _doubled(spec: BenchSpec, target: Target, texts: Sequence[str]) -> Behaviour:
    requests = target.requests(texts)

    def pairs() -> Iterator[tuple[float, float]]:
        for _ in range(spec.rounds):
            single = generator.run(target.url, requests, _IN_FLIGHT, spec.seconds).texts_per_s
            yield single, generator.run(target.url, requests, 2 * _IN_FLIGHT, spec.seconds).texts_per_s

    single, double = (statistics.median(column) for column in zip(*pairs(), strict=True))
    how = f"{single:.0f} texts/s at {_IN_FLIGHT} in flight, {double:.0f} at {2 * _IN_FLIGHT}"
    return Behaviour("doubled load: share of throughput lost", 1 - double / single, 0.05, how)


def _long_texts(spec: BenchSpec, target: Target, texts: Sequence[str]) -> Behaviour:
    characters = _NOT_ONE_TOKEN_A_CHARACTER.sub("", "".join(texts))

    def costs() -> Iterator[tuple[float, float]]:
        for _ in range(spec.rounds):
            long = _us_per_token(spec, target, characters, _LONG_TOKENS)
            yield long, _us_per_token(spec, target, characters, _SHORT_TOKENS)

    long, short = (statistics.median(column) for column in zip(*costs(), strict=True))
    how = f"{long:.1f} us a token at {_LONG_TOKENS} tokens, {short:.1f} at {_SHORT_TOKENS}"
    return Behaviour("long texts: cost per token relative to short", long / short, 1.0, how)


def _us_per_token(spec: BenchSpec, target: Target, characters: str, tokens: int) -> float:
    size = tokens - _SPECIAL_TOKENS
    texts = [characters[start : start + size] for start in range(0, len(characters) - size, size)]
    before = read_counts(target)
    sample = generator.run(target.url, target.requests(texts), _IN_FLIGHT, spec.seconds)
    time.sleep(FLUSH_S)
    return 1e6 * sample.wall_s / (read_counts(target).tokens - before.tokens)
