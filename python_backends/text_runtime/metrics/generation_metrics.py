"""What a generator counts: its load, its tokens, how answers end, how long they take and how long they are."""

import time
from typing import TYPE_CHECKING, Any

from text_runtime.generation.messages import Load
from text_runtime.manifest import GenerationManifest
from text_runtime.metrics.counters import Counters
from text_runtime.metrics.gauges import Gauges

if TYPE_CHECKING:
    from text_runtime.generation.broker import Stream

_GAUGES = {
    "trireme_generation_running": "Sequences that the engine computes",
    "trireme_generation_waiting": "Sequences that wait for the engine",
    "trireme_generation_cache_usage_ratio": "Part of the KV cache that sequences under way hold, from 0 to 1",
}
RUNNING = ("trireme_generation_running", "trireme_generation_waiting")
"""The gauges that together count the answers under way."""
_COUNTERS = {
    "trireme_generation_prompt_tokens_total": "Tokens of the prompts of ended requests",
    "trireme_generation_generated_tokens_total": "Tokens generated for ended requests",
    "trireme_generation_requests_total": "Requests by how they ended",
    "trireme_generation_empty_answers_total": "Answers that ended by themselves without any token",
}
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_TOKENS = (1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
_HISTOGRAMS: dict[str, tuple[str, tuple[float, ...]]] = {
    "trireme_generation_time_to_first_token_seconds": ("Seconds from a request to its first token", _SECONDS),
    "trireme_generation_time_per_output_token_seconds": ("Mean seconds between a request's tokens", _SECONDS),
    "trireme_generation_output_tokens": ("Tokens of an answer", _TOKENS),
}
_WHOLE = frozenset({"stop", "length"})


class GenerationMetrics:
    """What one generator does. Histograms are counters named as Prometheus names a histogram's parts, since Triton's
    Python backend has none.

    Args:
        utilities: Triton's `triton_python_backend_utils`.
        manifest: the release's.
        model: the Triton model that generates.
    """

    def __init__(self, utilities: Any, manifest: GenerationManifest, model: str) -> None:
        labels = {"pipeline": manifest.pipeline, "model": model, "release": str(manifest.release)}
        self._counters = Counters(utilities, _COUNTERS | _histogram_parts(), labels)
        self._gauges = Gauges(utilities, _GAUGES, labels)
        self.set_load(Load())

    def set_load(self, load: Load) -> None:
        """Publish how busy the engine is."""
        for name, value in zip(_GAUGES, (load.running, load.waiting, load.cache_share), strict=True):
            self._gauges.set(name, value)

    def refuse(self) -> None:
        """Count a request that was refused before it reached the engine."""
        self._counters.add("trireme_generation_requests_total", 1, reason="refused")

    def end(self, stream: "Stream", reason: str) -> None:
        """Count a stream that has ended: `stop`, `length`, `cancelled` or `failed`."""
        self._counters.add("trireme_generation_requests_total", 1, reason=reason)
        self._counters.add("trireme_generation_prompt_tokens_total", len(stream.start.ids))
        self._counters.add("trireme_generation_generated_tokens_total", stream.tokens)
        if stream.first_at:
            self._observe("trireme_generation_time_to_first_token_seconds", stream.first_at - stream.asked_at)
        if reason not in _WHOLE:
            return
        self._observe("trireme_generation_output_tokens", stream.tokens)
        if stream.tokens > 1:
            mean_s = (time.monotonic() - stream.first_at) / (stream.tokens - 1)
            self._observe("trireme_generation_time_per_output_token_seconds", mean_s)
        if not stream.tokens:
            self._counters.add("trireme_generation_empty_answers_total", 1)

    def close(self) -> None:
        """Send the last counts."""
        self._counters.close()

    def _observe(self, name: str, value: float) -> None:
        """Count a value into every bucket that holds it; the others get nothing, so that they exist all the same."""
        for limit in _HISTOGRAMS[name][1]:
            self._counters.add(f"{name}_bucket", float(value <= limit), le=f"{limit:g}")
        self._counters.add(f"{name}_bucket", 1, le="+Inf")
        self._counters.add(f"{name}_sum", value)
        self._counters.add(f"{name}_count", 1)


def _histogram_parts() -> dict[str, str]:
    return {f"{name}_{part}": text for name, (text, _) in _HISTOGRAMS.items() for part in ("bucket", "sum", "count")}
