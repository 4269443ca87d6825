"""What the steps count, as Triton custom metrics on its Prometheus endpoint."""

import ctypes
import threading
from typing import Any

_FLUSH_EVERY_S = 0.5
_Key = tuple[Any, ...]
"""A metric's name, then its labels as pairs of name and value."""


class Counters:
    """Counters of one model. Each increment of a Triton metric is a message to another process and back, so they are
    gathered here and sent twice a second, away from any request.

    Args:
        utilities: Triton's `triton_python_backend_utils`, which exists inside Triton only.
        names: metric names with their descriptions.
        labels: the labels that all of them carry.
    """

    def __init__(self, utilities: Any, names: dict[str, str], labels: dict[str, str]) -> None:
        kind = utilities.MetricFamily.COUNTER
        self._families = {
            name: spared(utilities.MetricFamily(name=name, description=text, kind=kind)) for name, text in names.items()
        }
        self._labels = labels
        self._metrics: dict[_Key, Any] = {}
        self._pending: dict[_Key, float] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._flush_until_ended, name="metrics", daemon=True)
        self._thread.start()

    def add(self, name: str, amount: float, **labels: str) -> None:
        """Count; `labels` are those by which this metric is split further. A metric's always come in one order."""
        key = (name, *labels.items())
        with self._lock:
            self._pending[key] = self._pending.get(key, 0.0) + amount

    def close(self) -> None:
        """Send what is left and end."""
        self._ended.set()
        self._thread.join()

    def _flush_until_ended(self) -> None:
        while not self._ended.wait(_FLUSH_EVERY_S):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, {}
        for key, amount in pending.items():
            self._metric(key).increment(amount)

    def _metric(self, key: _Key) -> Any:
        if key not in self._metrics:
            name, *labels = key
            self._metrics[key] = spared(self._families[name].Metric(labels=self._labels | dict(labels)))
        return self._metrics[key]


def spared(metric: Any) -> Any:
    """Let an object outlive the interpreter: destroyed with it, Triton's metrics ask for a connection that is gone by
    then, and their process ends with a segmentation fault.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(metric))
    return metric
