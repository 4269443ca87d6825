"""The Triton backend `text_tokenizer`: a thin shell over `text_runtime.tokenizer`."""

from pathlib import Path
from typing import Any

import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.manifest import read_manifest
from text_runtime.rows import RowTokenizer
from text_runtime.tasks import task


class TritonPythonModel:
    """One instance of a tokenizer step."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the release's tokenizer; a broken release refuses to load here."""
        folder = Path(pb_utils.get_model_dir())
        manifest = read_manifest(folder)
        self._inputs = task(manifest.task).inputs
        self._outputs = [tensor["name"] for tensor in orjson.loads(args["model_config"])["output"]]
        self._tokenizer = RowTokenizer(folder, manifest.tokenizer, self._inputs, self._outputs)

    def execute(self, requests: list[Any]) -> list[Any]:
        """Tokenize the texts of all requests in one call."""
        responses: list[Any] = [None] * len(requests)
        good, read = [], []
        for index, request in enumerate(requests):
            try:
                read.append(self._tokenizer.read(self._tensors(request)))
                good.append(index)
            except ValueError as error:
                responses[index] = _refusal(error)
        for index, tensors in zip(good, self._tokenizer.encode(read) if read else (), strict=True):
            responses[index] = pb_utils.InferenceResponse(
                [pb_utils.Tensor(name, array) for name, array in tensors.items()]
            )
        return responses

    def _tensors(self, request: Any) -> dict[str, Any]:
        names = [tensor.name for tensor in self._inputs]
        return {name: pb_utils.get_input_tensor_by_name(request, name).as_numpy() for name in names}


def _refusal(error: Exception) -> Any:
    return pb_utils.InferenceResponse(error=pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG))
