"""What the steps of a release count: the encoder's work, and the labels answered."""

from collections.abc import Iterable
from typing import Any

from text_runtime.encoder.encoder import Work
from text_runtime.manifest import Manifest
from text_runtime.metrics.counters import Counters
from text_runtime.tasks import Tensors, task

_WORK = {
    "trireme_encoder_rows_total": "Rows encoded",
    "trireme_encoder_tokens_total": "Tokens of the rows encoded",
    "trireme_encoder_padding_tokens_total": "Padding added to the rows encoded, in tokens",
    "trireme_encoder_batches_total": "Engine calls",
    "trireme_encoder_engine_seconds_total": "Seconds in engine calls, summed over workers",
}
_LABELS = {"trireme_label_total": "Answers by label"}


class WorkCounters:
    """What an encoder does.

    Args:
        utilities: Triton's `triton_python_backend_utils`.
        manifest: the release's.
        model: the Triton model that encodes.
    """

    def __init__(self, utilities: Any, manifest: Manifest, model: str) -> None:
        labels = {"pipeline": manifest.pipeline, "model": model, "release": str(manifest.release)}
        self._counters = Counters(utilities, _WORK, labels)

    def add(self, work: Work) -> None:
        """Count what one execution did."""
        amounts = (work.rows, work.tokens, work.padding_tokens, work.batches, work.engine_s)
        for name, amount in zip(_WORK, amounts, strict=True):
            self._counters.add(name, amount)

    def close(self) -> None:
        """Send the last counts."""
        self._counters.close()


class LabelCounters:
    """How often each label is answered: a drift of their shares is the first sign that quality has changed."""

    def __init__(self, utilities: Any, manifest: Manifest) -> None:
        labels = {"pipeline": manifest.pipeline, "release": str(manifest.release)}
        self._task = task(manifest.task)
        self._counters = Counters(utilities, _LABELS, labels)

    def add(self, answers: Iterable[Tensors]) -> None:
        """Count the answers of one execution."""
        for tensors in answers:
            for label in self._task.labels_in(tensors):
                self._counters.add("trireme_label_total", 1, label=label)

    def close(self) -> None:
        """Send the last counts."""
        self._counters.close()
