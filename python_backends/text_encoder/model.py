"""The Triton backend `text_encoder`: a thin shell over `text_runtime.encoder.encoder`."""

from pathlib import Path
from typing import Any

import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.deadlines import EXPIRED, is_over
from text_runtime.encoder.batching import SETTINGS, BatchingSettings
from text_runtime.encoder.encoder import Array, EncoderRequest, TextEncoder
from text_runtime.encoder.engines import load_engine
from text_runtime.encoder.execution_time import ExecutionTime
from text_runtime.encoder.sizing import SHARES, engine_spec
from text_runtime.manifest import read_encoder_manifest
from text_runtime.metrics.step_metrics import WorkCounters
from text_runtime.parameters import integers
from text_runtime.refusals import refusal, refusal_of
from text_runtime.tasks import task
from text_runtime.tensors import DEADLINE, INPUT_IDS, LENGTHS, TOKEN_TYPE_IDS


class TritonPythonModel:
    """One instance of an encoder step."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the release's engine and run every shape once; a broken release refuses to load here."""
        folder = Path(pb_utils.get_model_dir())
        manifest = read_encoder_manifest(folder)
        config = args["model_config"]
        _require_inputs(config)
        spec = engine_spec(folder, manifest.encoder, integers(config, SHARES))
        settings = BatchingSettings(**integers(config, SETTINGS))
        self._output = manifest.encoder.output
        self._is_per_token = task(manifest.task).is_per_token
        self._encoder = TextEncoder(load_engine(spec), manifest, settings, spec.workers)
        self._encoder.warm_up()
        self._execution_time = ExecutionTime()
        self._counters = WorkCounters(pb_utils, manifest, args["model_name"])

    def execute(self, requests: list[Any]) -> list[Any]:
        """Encode the rows of all requests together."""
        with self._execution_time.execution():
            return self._execute(requests)

    def finalize(self) -> None:
        """Send the last counts."""
        self._counters.close()

    def _execute(self, requests: list[Any]) -> list[Any]:
        responses: list[Any] = [None] * len(requests)
        good, places = [], []
        for index, request in enumerate(requests):
            responses[index] = self._unwanted(request)
            if responses[index]:
                continue
            try:
                good.append(_read(request))
                places.append(index)
            except ValueError as error:
                responses[index] = refusal_of(pb_utils, error)

        def keep(index: int, output: Array) -> None:
            responses[places[index]] = pb_utils.InferenceResponse([pb_utils.Tensor(self._output, output)])

        def refuse(index: int, error: Exception) -> None:
            responses[places[index]] = refusal_of(pb_utils, error)

        if good:
            self._counters.add(self._encoder.run(good, keep, refuse, self._is_per_token))
        return responses

    def _unwanted(self, request: Any) -> Any:
        """The refusal of a request for whose answer nobody waits any more, or None."""
        if self._execution_time.is_slow and request.is_cancelled():
            return refusal(pb_utils, "the client cancelled the request", pb_utils.TritonError.CANCELLED)
        if is_over(pb_utils.get_input_tensor_by_name(request, DEADLINE.name).as_numpy()[0, 0]):
            return refusal(pb_utils, EXPIRED, pb_utils.TritonError.UNAVAILABLE)
        return None


def _require_inputs(config: str) -> None:
    found = {tensor["name"] for tensor in orjson.loads(config)["input"]}
    missing = {INPUT_IDS.name, LENGTHS.name, DEADLINE.name} - found
    if missing:
        remedy = "another version of Trireme wrote it, export the checkpoint under another name"
        raise ValueError(f"config.pbtxt lacks the inputs {sorted(missing)}: {remedy}")


def _read(request: Any) -> EncoderRequest:
    types = pb_utils.get_input_tensor_by_name(request, TOKEN_TYPE_IDS.name)
    return EncoderRequest(
        pb_utils.get_input_tensor_by_name(request, INPUT_IDS.name).as_numpy(),
        pb_utils.get_input_tensor_by_name(request, LENGTHS.name).as_numpy(),
        None if types is None else types.as_numpy(),
    )
