"""What Triton counted of each model since it was loaded."""

from collections.abc import Iterable
from dataclasses import dataclass

from tritonclient.grpc.service_pb2 import ModelStatistics


@dataclass(frozen=True)
class ModelCounts:
    """A model's counters, all its versions together: rows, executions, requests that succeeded, and nanoseconds.

    `queue_ns` and `compute_ns` are summed over the requests; `success_ns` is their whole time, queueing included.
    """

    rows: int = 0
    executions: int = 0
    requests: int = 0
    queue_ns: int = 0
    compute_ns: int = 0
    success_ns: int = 0

    def plus(self, version: ModelStatistics) -> "ModelCounts":
        """These, and those of one more version."""
        times = version.inference_stats
        return ModelCounts(
            self.rows + version.inference_count,
            self.executions + version.execution_count,
            self.requests + times.success.count,
            self.queue_ns + times.queue.ns,
            self.compute_ns + times.compute_infer.ns,
            self.success_ns + times.success.ns,
        )


def counts_by_model(versions: Iterable[ModelStatistics]) -> dict[str, ModelCounts]:
    """The counters of every model."""
    counts: dict[str, ModelCounts] = {}
    for version in versions:
        counts[version.name] = counts.get(version.name, ModelCounts()).plus(version)
    return counts
