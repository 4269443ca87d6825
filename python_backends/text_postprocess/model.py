"""The Triton backend `text_postprocess`: a thin shell over the release's task."""

from pathlib import Path
from typing import Any

import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.labels import read_labels
from text_runtime.manifest import read_manifest
from text_runtime.metrics import Counters
from text_runtime.tasks import Tensors, task

_METRICS = {"trireme_label_total": "Answers by label"}


class TritonPythonModel:
    """One instance of a postprocess step."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the release's labels; a broken release refuses to load here."""
        folder = Path(pb_utils.get_model_dir())
        manifest = read_manifest(folder)
        self._decoder = task(manifest.task).decoder(read_labels(folder, manifest.width))
        self._inputs = [tensor["name"] for tensor in orjson.loads(args["model_config"])["input"]]
        labels = {"pipeline": manifest.pipeline, "release": str(manifest.release)}
        self._counters = Counters(pb_utils, _METRICS, labels)

    def execute(self, requests: list[Any]) -> list[Any]:
        """Decode all requests in one call."""
        decoded = self._decoder([self._tensors(request) for request in requests])
        self._count(decoded)
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor(name, array) for name, array in tensors.items()])
            for tensors in decoded
        ]

    def finalize(self) -> None:
        """Send the last counts."""
        self._counters.close()

    def _tensors(self, request: Any) -> dict[str, Any]:
        return {name: pb_utils.get_input_tensor_by_name(request, name).as_numpy() for name in self._inputs}

    def _count(self, decoded: list[Tensors]) -> None:
        """How often each label is answered: a drift of their shares is the first sign that quality has changed."""
        for tensors in decoded:
            if "label" in tensors:
                for label in tensors["label"].ravel():
                    self._counters.add("trireme_label_total", 1, label.decode())
