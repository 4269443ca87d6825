"""Deadlines of requests: nanoseconds on the clock that all processes of a machine share, 0 for none.

The first step learns a request's `timeout`; requests wait in front of a later one. Triton's own queue policies could
refuse what has waited too long, but any of them makes its batcher miss wake-ups.
"""

import time
from collections.abc import Iterable

EXPIRED = "Request timeout expired"
"""Triton's own words for it, by which clients tell it from a server that is away."""


def deadline_ns(timeout_us: int) -> int:
    """The deadline of a request whose `timeout`, 0 for none, begins now."""
    return time.monotonic_ns() + timeout_us * 1000 if timeout_us else 0


def is_over(deadline: int) -> bool:
    """Whether nobody waits for the answer any more."""
    return 0 < deadline < time.monotonic_ns()


def timeout_us(deadline: int) -> int:
    """What is left, as a request's `timeout`: at least 1 where there is a deadline."""
    return max(1, (deadline - time.monotonic_ns()) // 1000) if deadline else 0


def latest(deadlines: Iterable[int]) -> int:
    """The deadline of requests that are answered together: until it, one of them is waited for."""
    each = list(deadlines)
    return max(each) if all(each) else 0
