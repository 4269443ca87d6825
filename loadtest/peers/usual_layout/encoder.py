"""The encoder: the requests that Triton's batcher merged have one length, so they run as one batch."""

import os
from typing import Any

import numpy as np
import onnxruntime
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """One instance."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the model."""
        folder = os.path.join(args["model_repository"], args["model_version"])
        path = os.path.join(folder, "model.onnx")
        self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.names = [value.name for value in self.session.get_inputs()]

    def execute(self, requests: list[Any]) -> list[Any]:
        """Run all requests at once."""
        feeds = {
            name: np.concatenate([pb_utils.get_input_tensor_by_name(request, name).as_numpy() for request in requests])
            for name in self.names
        }
        logits = self.session.run(None, feeds)[0]
        responses, start = [], 0
        for request in requests:
            rows = pb_utils.get_input_tensor_by_name(request, "input_ids").as_numpy().shape[0]
            tensor = pb_utils.Tensor("logits", logits[start : start + rows])
            responses.append(pb_utils.InferenceResponse([tensor]))
            start += rows
        return responses
