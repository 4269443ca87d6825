"""The Triton backend `text_encoder`: a thin shell over `text_runtime.encoder`."""

from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from text_runtime.batching import BatchingSettings
from text_runtime.cpu import usable_cores
from text_runtime.encoder import EncoderRequest, TextEncoder
from text_runtime.engines import EngineSpec, load_engine
from text_runtime.manifest import read_manifest
from text_runtime.parameters import integers
from text_runtime.tensors import INPUT_IDS, LENGTHS, TOKEN_TYPE_IDS


class TritonPythonModel:
    """One instance of an encoder step."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the release's engine; a broken release refuses to load here."""
        folder = Path(pb_utils.get_model_dir())
        manifest = read_manifest(folder)
        threads = integers(args["model_config"], ("threads",)).get("threads", usable_cores())
        settings = BatchingSettings(**integers(args["model_config"], ("token_budget", "bucket_step", "max_rows")))
        engine = load_engine(EngineSpec(folder, manifest.encoder, threads))
        self._encoder = TextEncoder(engine, manifest, settings)

    def execute(self, requests: list[Any]) -> None:
        """Encode the rows of all requests; each is answered as soon as its last row is done."""
        senders, good = [], []
        for request in requests:
            sender = request.get_response_sender()
            try:
                good.append(_read(request))
                senders.append(sender)
            except ValueError as error:
                _refuse(sender, error)
        if good:
            self._encoder.run(good, lambda index, output: _answer(senders[index], output), False)


def _read(request: Any) -> EncoderRequest:
    types = pb_utils.get_input_tensor_by_name(request, TOKEN_TYPE_IDS.name)
    return EncoderRequest(
        pb_utils.get_input_tensor_by_name(request, INPUT_IDS.name).as_numpy(),
        pb_utils.get_input_tensor_by_name(request, LENGTHS.name).as_numpy(),
        None if types is None else types.as_numpy(),
    )


def _answer(sender: Any, output: np.ndarray[Any, Any]) -> None:
    response = pb_utils.InferenceResponse([pb_utils.Tensor("logits", output)])
    sender.send(response, pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)


def _refuse(sender: Any, error: Exception) -> None:
    refusal = pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG)
    sender.send(pb_utils.InferenceResponse(error=refusal), pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
