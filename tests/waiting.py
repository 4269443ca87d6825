"""Waiting for what happens elsewhere."""

import time
from collections.abc import Callable


def until(is_so: Callable[[], bool], within_s: float) -> None:
    """Wait for something to become so."""
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, f"not within {within_s} s"
        time.sleep(0.05)
