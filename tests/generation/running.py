"""What a served pipeline that writes is doing, as its operator sees it."""

import time
from collections.abc import Callable

from text_runtime.metrics.generation_metrics import RUNNING
from trireme.admin import scrape
from trireme.serving import Server


def running_sequences(server: Server) -> int:
    """Answers under way, those that wait for their first token too."""
    samples = scrape(server.metrics_url)
    return int(sum(sample.value for sample in samples if sample.name in RUNNING))


def until(is_so: Callable[[], bool], within_s: float) -> None:
    """Wait for something to become so."""
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, f"not within {within_s} s"
        time.sleep(0.05)
