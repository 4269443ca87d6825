"""Puts one writer under a steady number of streams, and tells what their readers saw."""

import asyncio
import itertools
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from loadtest.writing.writers import Writer

_WARM_UP_S = 3.0
"""So long streams run before anything counts: the first of them begin together, which none does later."""


@dataclass(frozen=True)
class Load:
    """How many streams at once, for how many seconds that count, each of how many tokens."""

    streams: int
    seconds: float
    tokens: int


@dataclass(frozen=True)
class Figures:
    """What came of it. A second is a reader's; `first_s` and `between_s` are of every answer that began in time."""

    tokens_per_s: float
    first_s: Sequence[float]
    between_s: Sequence[float]


def merged(rounds: Sequence[Figures]) -> Figures:
    """Several rounds as one: the median of their rates, and the times of all."""
    return Figures(
        statistics.median(each.tokens_per_s for each in rounds),
        [value for each in rounds for value in each.first_s],
        [value for each in rounds for value in each.between_s],
    )


@dataclass
class _Seen:
    begins: float
    tokens: int = 0
    first_s: list[float] = field(default_factory=list)
    between_s: list[float] = field(default_factory=list)

    @property
    def counts(self) -> bool:
        return time.perf_counter() >= self.begins


async def measure(writer: Writer, prompts: Sequence[str], load: Load) -> Figures:
    """Keep so many streams going for the time; those that are still written then are cancelled."""
    seen = _Seen(time.perf_counter() + _WARM_UP_S)
    endless = itertools.cycle(prompts)
    tasks = [asyncio.create_task(_read(writer, endless, load.tokens, seen)) for _ in range(load.streams)]
    done, _ = await asyncio.wait(tasks, timeout=_WARM_UP_S + load.seconds, return_when=asyncio.FIRST_EXCEPTION)
    tokens, seconds = seen.tokens, time.perf_counter() - seen.begins
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
    return Figures(tokens / seconds, seen.first_s, seen.between_s)


async def measure_whole(writer: Writer, prompts: Sequence[str], load: Load) -> Figures:
    """Ask for so many answers at once, and wait for them all: nothing can be told of some, nor be stopped."""
    seen = _Seen(time.perf_counter())

    async def ask(prompt: str) -> None:
        async for tokens in writer.write(prompt, load.tokens):
            seen.tokens += tokens
            seen.first_s.append(time.perf_counter() - seen.begins)

    await asyncio.gather(*(ask(prompt) for prompt in itertools.islice(itertools.cycle(prompts), load.streams)))
    return Figures(seen.tokens / (time.perf_counter() - seen.begins), seen.first_s, [])


async def _read(writer: Writer, prompts: Iterator[str], most: int, seen: _Seen) -> None:
    while True:
        began = last = time.perf_counter()
        is_first = True
        async with aclosing(writer.write(next(prompts), most)) as answer:
            async for tokens in answer:
                now = time.perf_counter()
                if seen.counts and tokens:
                    seen.tokens += tokens
                    if is_first:
                        seen.first_s.append(now - began)
                    else:
                        seen.between_s.append((now - last) / tokens)
                last, is_first = now, False


def quantile(values: Sequence[float], percent: int) -> float:
    """A percentile; not a number where there are too few values."""
    return statistics.quantiles(values, n=100)[percent - 1] if len(values) > 1 else float("nan")
