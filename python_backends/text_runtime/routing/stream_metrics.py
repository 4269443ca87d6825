"""What a router of streams counts of a canary, under the same names as the router of single answers.

Seconds are those to the first token, labels the reasons for which answers ended, and the agreement that of the
likeliest first token. Beside these stand the seconds between tokens and the tokens of the answers.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from text_runtime.metrics.counters import Counters
from text_runtime.routing.canary_metrics import BUCKETS_S, NAMES, PREFIX
from text_runtime.routing.split import Split

_MORE = {
    f"{PREFIX}_tokens_total": "Tokens that a release wrote during a canary",
    f"{PREFIX}_gap_seconds_sum": "Seconds from the first token of an answer to its last, during a canary",
    f"{PREFIX}_gaps_total": "Tokens after the first of an answer, during a canary",
}


@dataclass
class StreamRecord:
    """What one answer was like."""

    release: int
    began: float = field(default_factory=time.monotonic)
    first_s: float | None = None
    last_s: float = 0.0
    tokens: int = 0
    finish_reason: str = ""
    is_failed: bool = False

    def note(self, finish_reason: Any, tokens: Any) -> None:
        """A piece came."""
        self.last_s = time.monotonic() - self.began
        if self.first_s is None:
            self.first_s = self.last_s
        self.tokens += int(tokens)
        if finish_reason:
            self.finish_reason = finish_reason.decode() if isinstance(finish_reason, bytes) else str(finish_reason)

    def fail(self) -> None:
        """It failed."""
        self.is_failed = True


class StreamMetrics:
    """Triton metrics with the labels `pipeline` and `release`.

    Args:
        triton: the Python backend's module.
        split: the canary.
    """

    def __init__(self, triton: Any, split: Split) -> None:
        self._counters = Counters(triton, NAMES | _MORE, {"pipeline": split.pipeline})

    def count(self, record: StreamRecord) -> None:
        """Count one answer."""
        number = str(record.release)
        self._add("requests_total", 1, release=number)
        if record.is_failed or record.first_s is None:
            self._add("failures_total", 1, release=number)
            return
        self._add("duration_seconds_sum", record.first_s, release=number)
        for bound in [*(str(bound) for bound in BUCKETS_S if record.first_s <= bound), "+Inf"]:
            self._add("duration_seconds_bucket", 1, release=number, le=bound)
        self._add("tokens_total", record.tokens, release=number)
        if record.tokens > 1:
            self._add("gap_seconds_sum", record.last_s - record.first_s, release=number)
            self._add("gaps_total", record.tokens - 1, release=number)
        if record.finish_reason:
            self._add("labels_total", 1, release=number, label=record.finish_reason)

    def compare(self, is_same: bool) -> None:
        """Count whether both sides' first tokens of one answer are the same."""
        self._add("compared_total", 1)
        self._add("agreement_total", float(is_same))

    def close(self) -> None:
        """Send what is left."""
        self._counters.close()

    def _add(self, name: str, amount: float, **labels: str) -> None:
        self._counters.add(f"{PREFIX}_{name}", amount, **labels)
