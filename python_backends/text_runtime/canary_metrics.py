"""What a router counts of each side of a canary: requests, failures, seconds, and labels."""

from collections import Counter
from typing import Any

from text_runtime.metrics import Counters
from text_runtime.routing import Split

BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
"""Upper bounds of the duration's buckets; the last one, without bound, is `+Inf`."""

PREFIX = "trireme_canary"
_LABEL_OUTPUT = "label"
_NAMES = {
    f"{PREFIX}_requests_total": "Requests that a release answered during a canary",
    f"{PREFIX}_failures_total": "Requests that a release failed during a canary",
    f"{PREFIX}_duration_seconds_sum": "Seconds that a release took for its requests during a canary",
    f"{PREFIX}_duration_seconds_bucket": "Requests of a canary that took up to `le` seconds",
    f"{PREFIX}_labels_total": "Texts of a canary by the label that a release gave them",
    f"{PREFIX}_mirrored_total": "Mirrored texts by whether both releases agreed on the label",
}


class CanaryMetrics:
    """Triton metrics with the labels `pipeline` and `release`. `triton` is the Python backend's module."""

    def __init__(self, triton: Any, split: Split) -> None:
        self._counters = Counters(triton, _NAMES, {"pipeline": split.pipeline})

    def count(self, release: int, answer: Any, seconds: float) -> None:
        """Count one request and its answer."""
        number = str(release)
        self._add("requests_total", 1, release=number)
        self._add("duration_seconds_sum", seconds, release=number)
        for bound in [*(str(bound) for bound in BUCKETS_S if seconds <= bound), "+Inf"]:
            self._add("duration_seconds_bucket", 1, release=number, le=bound)
        if answer.has_error():
            self._add("failures_total", 1, release=number)
            return
        for label, texts in Counter(self._labels(answer)).items():
            self._add("labels_total", texts, release=number, label=label)

    def compare(self, current: Any, candidate: Any) -> None:
        """Count by text whether both sides gave the same label."""
        if current.has_error() or candidate.has_error():
            return
        for ours, theirs in zip(self._labels(current), self._labels(candidate), strict=True):
            self._add("mirrored_total", 1, agreed=str(ours == theirs).lower())

    def close(self) -> None:
        """Send what is left."""
        self._counters.close()

    def _labels(self, answer: Any) -> list[str]:
        tensor = next((found for found in answer.output_tensors() if found.name() == _LABEL_OUTPUT), None)
        return [] if tensor is None else [value.decode() for value in tensor.as_numpy().reshape(-1)]

    def _add(self, name: str, amount: float, **labels: str) -> None:
        self._counters.add(f"{PREFIX}_{name}", amount, **labels)
