"""What a router counts of a canary: each side's requests, failures, seconds and labels, and how far both agree."""

from collections import Counter
from typing import Any

from text_runtime.metrics.counters import Counters
from text_runtime.routing.split import Split
from text_runtime.tasks import Outputs, Task, Tensors, task, task_names

BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
"""Upper bounds of the duration's buckets; the last one, without bound, is `+Inf`."""

PREFIX = "trireme_canary"
NAMES = {
    f"{PREFIX}_requests_total": "Requests that a release answered during a canary",
    f"{PREFIX}_failures_total": "Requests that a release failed during a canary",
    f"{PREFIX}_duration_seconds_sum": "Seconds that a release took for its requests during a canary",
    f"{PREFIX}_duration_seconds_bucket": "Requests of a canary that took up to `le` seconds",
    f"{PREFIX}_labels_total": "Texts of a canary by the label that a release gave them",
    f"{PREFIX}_compared_total": "Texts of a canary whose answers by both releases were compared",
    f"{PREFIX}_agreement_total": "Sum of the agreements, from 0 to 1, of the texts that were compared",
}


class CanaryMetrics:
    """Triton metrics with the labels `pipeline` and `release`.

    Args:
        triton: the Python backend's module.
        split: the canary.
        task_name: the pipeline's task. Without one no answers are compared, and a judge that asks for it refuses.
    """

    def __init__(self, triton: Any, split: Split, task_name: str) -> None:
        self._task = task(task_name) if task_name in task_names() else None
        self._counters = Counters(triton, NAMES, {"pipeline": split.pipeline})

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
        if self._task is not None:
            for label, texts in Counter(self._task.labels_in(_tensors(answer))).items():
                self._add("labels_total", texts, release=number, label=label)

    def compare(self, current: Any, candidate: Any) -> None:
        """Count how far both sides' answers to one request agree; a candidate that fails what the current release
        answers agrees with nothing."""
        if self._task is None or current.has_error():
            return
        agreements = _agreements(self._task, _outputs(current), candidate)
        if agreements:
            self._add("compared_total", len(agreements))
            self._add("agreement_total", sum(agreements))

    def close(self) -> None:
        """Send what is left."""
        self._counters.close()

    def _add(self, name: str, amount: float, **labels: str) -> None:
        self._counters.add(f"{PREFIX}_{name}", amount, **labels)


def _agreements(chosen: Task[Any], ours: Outputs, candidate: Any) -> list[float]:
    """The agreement of each row; 0 where the candidate failed, or gave what is no answer of the task."""
    none = [0.0] * len(ours.releases)
    if candidate.has_error():
        return none
    try:
        return chosen.agreements(chosen.answers(ours), chosen.answers(_outputs(candidate)))
    except (KeyError, TypeError, ValueError):
        return none


def _tensors(answer: Any) -> Tensors:
    return {tensor.name(): tensor.as_numpy() for tensor in answer.output_tensors()}


def _outputs(answer: Any) -> Outputs:
    tensors = _tensors(answer)
    return Outputs(tensors, (None,) * len(next(iter(tensors.values()))))
