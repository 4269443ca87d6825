"""The Triton backend `text_postprocess`: a thin shell over the release's task."""

from pathlib import Path
from typing import Any

import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.encoder.isolation import isolated
from text_runtime.manifest import EncoderManifest, read_encoder_manifest
from text_runtime.metrics.step_metrics import LabelCounters
from text_runtime.tasks import Tensors, task
from text_runtime.tasks.label_files import read_labels

_ENCODER_INPUTS = ("input_ids", "token_type_ids", "lengths", "deadline_ns")


class TritonPythonModel:
    """One instance of a postprocess step."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the release's labels; a broken release refuses to load here."""
        folder = Path(pb_utils.get_model_dir())
        manifest = read_encoder_manifest(folder)
        chosen = task(manifest.task)
        labels = read_labels(folder, manifest.width if chosen.has_labels else 0)
        self._inputs = [tensor["name"] for tensor in orjson.loads(args["model_config"])["input"]]
        self._decoder = chosen.decoder(labels, _Steps(manifest))
        self._counters = LabelCounters(pb_utils, manifest)

    def execute(self, requests: list[Any]) -> list[Any]:
        """Decode all requests in one call; one that cannot be decoded fails alone."""
        outcomes = isolated([self._tensors(request) for request in requests], self._decoder)
        self._counters.add(answer for answer in outcomes if not isinstance(answer, Exception))
        return [_response(outcome) for outcome in outcomes]

    def finalize(self) -> None:
        """Send the last counts."""
        self._counters.close()

    def _tensors(self, request: Any) -> dict[str, Any]:
        return {name: pb_utils.get_input_tensor_by_name(request, name).as_numpy() for name in self._inputs}


def _response(outcome: Tensors | Exception) -> Any:
    if isinstance(outcome, Exception):
        deeper = "a deeper level of the schema failed: " if isinstance(outcome, pb_utils.TritonModelException) else ""
        return pb_utils.InferenceResponse(error=pb_utils.TritonError(f"{deeper}{outcome}"))
    return pb_utils.InferenceResponse([pb_utils.Tensor(name, array) for name, array in outcome.items()])


class _Steps:
    """The tokenizer and the encoder of the same release, called from inside Triton. See `text_runtime.tasks.Encode`."""

    def __init__(self, manifest: EncoderManifest) -> None:
        self._manifest = manifest

    def __call__(self, inputs: Tensors) -> Tensors:
        tokenized = self._call("tokenizer", inputs)
        encoded = self._call("encoder", {name: tokenized[name] for name in _ENCODER_INPUTS})
        return {**inputs, **tokenized, **encoded}

    def _call(self, step: str, tensors: Tensors) -> dict[str, Any]:
        wanted = (*_ENCODER_INPUTS, "spans") if step == "tokenizer" else (self._manifest.encoder.output,)
        request = pb_utils.InferenceRequest(
            model_name=f"{self._manifest.pipeline}_{step}",
            model_version=self._manifest.release,
            requested_output_names=list(wanted),
            inputs=[pb_utils.Tensor(name, array) for name, array in tensors.items()],
        )
        response = request.exec()
        if response.has_error():
            raise pb_utils.TritonModelException(response.error().message())
        return {name: pb_utils.get_output_tensor_by_name(response, name).as_numpy() for name in wanted}
