"""Seconds since a move began, by what had been reached; and work that goes on for so many of them."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


class Stopwatch:
    """Starts at once."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self.laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """Note the seconds since the start."""
        self.laps[name] = round(time.monotonic() - self._started, 3)


def for_seconds(seconds: float, items: Iterable[Item]) -> Iterator[Item]:
    """Items until the time is over; at least one."""
    deadline = time.monotonic() + seconds
    for item in items:
        yield item
        if time.monotonic() > deadline:
            return
