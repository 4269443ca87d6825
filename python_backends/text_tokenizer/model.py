"""The Triton backend `text_tokenizer`: a thin shell over `text_runtime.tokenizers.tokenizer`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.deadlines import deadline_ns
from text_runtime.encoder.buckets import Buckets
from text_runtime.encoder.isolation import isolated
from text_runtime.manifest import read_encoder_manifest
from text_runtime.parameters import prompt_name
from text_runtime.tasks import Tensors, task
from text_runtime.tensors import DEADLINE, INPUT_IDS
from text_runtime.tokenizers.rows import Columns, RowTokenizer


class TritonPythonModel:
    """One instance of a tokenizer step."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the release's tokenizer; a broken release refuses to load here."""
        folder = Path(pb_utils.get_model_dir())
        manifest = read_encoder_manifest(folder)
        self._inputs = task(manifest.task).inputs
        outputs = [tensor["name"] for tensor in orjson.loads(args["model_config"])["output"]]
        self._has_deadlines = DEADLINE.name in outputs
        wanted = [name for name in outputs if name != DEADLINE.name]
        self._tokenizer = RowTokenizer(folder, manifest.tokenizer, self._inputs, wanted)
        facts = manifest.tokenizer
        self._buckets = Buckets(facts.buckets, facts.pad_token_id) if facts.buckets else None

    def execute(self, requests: list[Any]) -> list[Any] | None:
        """Tokenize the texts of all requests in one call."""
        responses: list[Any] = [None] * len(requests)
        good, read = [], []
        for index, request in enumerate(requests):
            try:
                read.append(self._tokenizer.read(self._tensors(request), prompt_name(request.parameters())))
                good.append(index)
            except ValueError as error:
                responses[index] = _refusal(error)
        encoded: dict[int, Tensors] = {}
        for index, tensors in zip(good, isolated(read, self._encoded) if read else [], strict=True):
            if isinstance(tensors, Exception):
                responses[index] = _refusal(tensors)
            else:
                encoded[index] = self._buckets.pad(tensors) if self._buckets else tensors
        for index, tensors in encoded.items():
            responses[index] = self._response(requests[index], tensors)
        if not self._buckets:
            return responses
        indices = list(encoded)
        places = [indices[place] for place in self._buckets.order([_tokens(tensors) for tensors in encoded.values()])]
        return _send(requests, responses, places)

    def _encoded(self, columns: Sequence[Columns]) -> list[Tensors]:
        return list(self._tokenizer.encode(columns))

    def _response(self, request: Any, tensors: Tensors) -> Any:
        outputs = [pb_utils.Tensor(name, array) for name, array in tensors.items()]
        if self._has_deadlines:
            rows = len(tensors[INPUT_IDS.name])
            deadline = np.full((rows, 1), deadline_ns(request.timeout()), DEADLINE.data_type.numpy)
            outputs.append(pb_utils.Tensor(DEADLINE.name, deadline))
        return pb_utils.InferenceResponse(outputs)

    def _tensors(self, request: Any) -> dict[str, Any]:
        names = [tensor.name for tensor in self._inputs]
        return {name: pb_utils.get_input_tensor_by_name(request, name).as_numpy() for name in names}


def _tokens(tensors: Tensors) -> int:
    return int(tensors[INPUT_IDS.name].shape[1])


def _send(requests: list[Any], responses: list[Any], places: list[int]) -> None:
    """Answer in the order of `places`, then the refused: the next step's queue keeps the order of answers."""
    refused = sorted(set(range(len(requests))) - set(places))
    for place in (*places, *refused):
        sender = requests[place].get_response_sender()
        sender.send(responses[place], flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)


def _refusal(error: Exception) -> Any:
    return pb_utils.InferenceResponse(error=pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG))
