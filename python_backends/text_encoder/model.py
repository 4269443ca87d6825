"""The Triton backend `text_encoder`: a thin shell over `text_runtime.encoder`."""

from pathlib import Path
from typing import Any

import triton_python_backend_utils as pb_utils

from text_runtime.batching import BatchingSettings
from text_runtime.encoder import Answer, Array, EncoderRequest, TextEncoder
from text_runtime.engines import load_engine
from text_runtime.manifest import read_manifest
from text_runtime.metrics import EncoderMetrics
from text_runtime.parameters import integers
from text_runtime.sizing import engine_spec
from text_runtime.tasks import task
from text_runtime.tensors import INPUT_IDS, LENGTHS, TOKEN_TYPE_IDS

_BATCHING = ("token_budget", "bucket_step", "max_rows", "overhead_tokens")


class TritonPythonModel:
    """One instance of an encoder step."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the release's engine and run every shape once; a broken release refuses to load here."""
        folder = Path(pb_utils.get_model_dir())
        manifest = read_manifest(folder)
        config = args["model_config"]
        spec = engine_spec(folder, manifest.encoder, integers(config, ("threads", "workers")))
        settings = BatchingSettings(**integers(config, _BATCHING))
        self._output = manifest.encoder.output
        self._is_per_token = task(manifest.task).is_per_token
        self._encoder = TextEncoder(load_engine(spec), manifest, settings, spec.workers)
        self._encoder.warm_up()
        self._metrics = EncoderMetrics(pb_utils, manifest.pipeline, manifest.release)

    def execute(self, requests: list[Any]) -> None:
        """Encode the rows of all requests; each is answered as soon as its last row is done."""
        senders, good = [], []
        for request in requests:
            sender = request.get_response_sender()
            if request.is_cancelled():  # nobody waits for it
                _refuse(sender, "the client cancelled the request", pb_utils.TritonError.CANCELLED)
                continue
            try:
                good.append(_read(request))
                senders.append(sender)
            except ValueError as error:
                _refuse(sender, str(error), pb_utils.TritonError.INVALID_ARG)
        if good:
            self._metrics.add(self._encoder.run(good, self._answerer(senders), self._is_per_token))

    def _answerer(self, senders: list[Any]) -> Answer:
        def answer(index: int, output: Array) -> None:
            _send(senders[index], pb_utils.InferenceResponse([pb_utils.Tensor(self._output, output)]))

        return answer


def _read(request: Any) -> EncoderRequest:
    types = pb_utils.get_input_tensor_by_name(request, TOKEN_TYPE_IDS.name)
    return EncoderRequest(
        pb_utils.get_input_tensor_by_name(request, INPUT_IDS.name).as_numpy(),
        pb_utils.get_input_tensor_by_name(request, LENGTHS.name).as_numpy(),
        None if types is None else types.as_numpy(),
    )


def _refuse(sender: Any, message: str, code: Any) -> None:
    _send(sender, pb_utils.InferenceResponse(error=pb_utils.TritonError(message, code)))


def _send(sender: Any, response: Any) -> None:
    sender.send(response, pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
