"""The tokenizer as example repositories write it: request by request, padded within the request."""

import os
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils
from tokenizers import Tokenizer


class TritonPythonModel:
    """One instance."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the tokenizer."""
        folder = os.path.join(args["model_repository"], args["model_version"])
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.enable_truncation(128)
        self.tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")

    def execute(self, requests: list[Any]) -> list[Any]:
        """Tokenize each request."""
        responses = []
        for request in requests:
            texts = [text.decode() for text in pb_utils.get_input_tensor_by_name(request, "text").as_numpy().ravel()]
            ids = np.array([encoding.ids for encoding in self.tokenizer.encode_batch(texts)])
            tensors = [pb_utils.Tensor("input_ids", ids), pb_utils.Tensor("token_type_ids", np.zeros_like(ids))]
            responses.append(pb_utils.InferenceResponse(tensors))
        return responses
