"""What the steps measure as it stands, as Triton custom metrics on its Prometheus endpoint."""

from typing import Any

from text_runtime.metrics.counters import spared


class Gauges:
    """Gauges of one model. A value is sent only when it has changed, since each is a message to another process.

    Args:
        utilities: Triton's `triton_python_backend_utils`.
        names: metric names with their descriptions.
        labels: the labels that all of them carry.
    """

    def __init__(self, utilities: Any, names: dict[str, str], labels: dict[str, str]) -> None:
        kind = utilities.MetricFamily.GAUGE
        self._families = [
            spared(utilities.MetricFamily(name=name, description=text, kind=kind)) for name, text in names.items()
        ]
        self._metrics = {
            name: spared(family.Metric(labels=labels)) for name, family in zip(names, self._families, strict=True)
        }
        self._sent: dict[str, float] = {}

    def set(self, name: str, value: float) -> None:
        """Publish a value."""
        if self._sent.get(name) != value:
            self._metrics[name].set(value)
            self._sent[name] = value
