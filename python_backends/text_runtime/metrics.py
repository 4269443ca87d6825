"""What the steps count, as Triton custom metrics on its Prometheus endpoint."""

from typing import Any

from text_runtime.encoder import Work

_ENCODER = {
    "rows": "Rows encoded",
    "tokens": "Tokens of the rows encoded",
    "padding_tokens": "Padding added to the rows encoded, in tokens",
    "batches": "Engine calls",
    "engine_s": "Seconds in engine calls, summed over workers",
}


class EncoderMetrics:
    """Counters `trireme_encoder_*_total` of one encoder, labelled with pipeline and release.

    Args:
        utilities: Triton's `triton_python_backend_utils`, which exists inside Triton only.
        pipeline: the pipeline's name.
        release: the release's number.
    """

    def __init__(self, utilities: Any, pipeline: str, release: int) -> None:
        labels = {"pipeline": pipeline, "model": f"{pipeline}_encoder", "release": str(release)}
        # The family must outlive its metrics: Triton forgets both with it.
        self._families = {name: _counter(utilities, name, text) for name, text in _ENCODER.items()}
        self._counters = {name: family.Metric(labels=labels) for name, family in self._families.items()}

    def add(self, work: Work) -> None:
        """Count one execution."""
        for name, counter in self._counters.items():
            counter.increment(getattr(work, name))


def _counter(utilities: Any, name: str, description: str) -> Any:
    unit = f"trireme_encoder_{name.replace('_s', '_seconds') if name.endswith('_s') else name}_total"
    return utilities.MetricFamily(name=unit, description=description, kind=utilities.MetricFamily.COUNTER)
