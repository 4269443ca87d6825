"""What a model that writes counts: answers by how they ended, tokens, waiting times, and how full it is."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from text_runtime.generation.messages import Load
from text_runtime.manifest import GenerationManifest
from text_runtime.metrics.counters import Counters

PREFIX = "trireme_generator"
SECONDS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0, 5.0, 10.0, 30.0)
TOKENS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""Upper bounds of the histograms' buckets; the last one, without bound, is `+Inf`."""
_HISTOGRAMS = {
    "first_token_seconds": "Seconds from a request to the first of its answer",
    "token_gap_seconds": "Seconds between two tokens of an answer",
    "answer_tokens": "Tokens of an answer",
}
_COUNTERS = {
    f"{PREFIX}_prompt_tokens_total": "Tokens of the prompts admitted",
    f"{PREFIX}_tokens_total": "Tokens written",
    f"{PREFIX}_messages_total": "Messages to callers with parts of answers",
    f"{PREFIX}_answers_total": "Answers by how they ended: stop, length, cancelled, failed, refused",
    f"{PREFIX}_empty_answers_total": "Answers that ended without a token",
}
_GAUGES = {
    f"{PREFIX}_running": "Answers that are being written",
    f"{PREFIX}_waiting": "Answers that wait for their first token",
    f"{PREFIX}_cache_share": "The part of the KV cache that answers under way hold, from 0 to 1",
}


def _histogram_names() -> Iterator[tuple[str, str]]:
    for name, text in _HISTOGRAMS.items():
        yield f"{PREFIX}_{name}_sum", f"{text}, summed"
        yield f"{PREFIX}_{name}_count", f"{text}, counted"
        yield f"{PREFIX}_{name}_bucket", f"{text}, up to `le`"


class GeneratorMetrics:
    """Triton metrics of one release.

    Args:
        utilities: Triton's `triton_python_backend_utils`.
        manifest: the release's.
        model: the Triton model that writes.
    """

    def __init__(self, utilities: Any, manifest: GenerationManifest, model: str) -> None:
        labels = {"pipeline": manifest.pipeline, "model": model, "release": str(manifest.release)}
        self._counters = Counters(utilities, _COUNTERS | dict(_histogram_names()), labels, _GAUGES)
        for name in _GAUGES:
            self._counters.set(name, 0)

    def admitted(self, prompt_tokens: int) -> None:
        """A request is taken on."""
        self._add("prompt_tokens_total", prompt_tokens)

    def wrote(self, tokens: int, waited_s: float, is_first: bool) -> None:
        """A message goes out with so many tokens, so long after the one before it, or after the request."""
        self._add("messages_total", 1)
        self._add("tokens_total", tokens)
        if is_first:
            self._observe("first_token_seconds", waited_s, 1, SECONDS)
        elif tokens:
            self._observe("token_gap_seconds", waited_s / tokens, tokens, SECONDS)

    def ended(self, how: str, tokens: int) -> None:
        """An answer has ended: `stop`, `length`, `cancelled`, `failed` or `refused`."""
        self._counters.add(f"{PREFIX}_answers_total", 1, finish_reason=how)
        if how in ("stop", "length"):
            self._observe("answer_tokens", tokens, 1, TOKENS)
            if not tokens:
                self._add("empty_answers_total", 1)

    def loaded(self, load: Load, admitted: int) -> None:
        """How busy the model is; `admitted` are all answers that have not ended."""
        running = min(load.running, admitted)
        values = (running, admitted - running, load.cache_share if admitted else 0.0)
        for name, value in zip(_GAUGES, values, strict=True):
            self._counters.set(name, value)

    def close(self) -> None:
        """Send the last counts."""
        self._counters.close()

    def _add(self, name: str, amount: float) -> None:
        self._counters.add(f"{PREFIX}_{name}", amount)

    def _observe(self, name: str, value: float, times: int, bounds: tuple[float, ...]) -> None:
        self._add(f"{name}_sum", value * times)
        self._add(f"{name}_count", times)
        for bound in chain((str(bound) for bound in bounds if value <= bound), ("+Inf",)):
            self._counters.add(f"{PREFIX}_{name}_bucket", times, le=bound)
