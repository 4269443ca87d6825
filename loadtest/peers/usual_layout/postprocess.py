"""Softmax and label, request by request."""

from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

LABELS = np.array([b"negative", b"positive"], dtype=np.object_)


class TritonPythonModel:
    """One instance."""

    def execute(self, requests: list[Any]) -> list[Any]:
        """Decode each request."""
        responses = []
        for request in requests:
            logits = pb_utils.get_input_tensor_by_name(request, "logits").as_numpy()
            scores = np.exp(logits - logits.max(axis=1, keepdims=True))
            scores /= scores.sum(axis=1, keepdims=True)
            label = pb_utils.Tensor("label", LABELS[scores.argmax(axis=1)][:, None])
            score = pb_utils.Tensor("score", scores.max(axis=1)[:, None].astype(np.float32))
            responses.append(pb_utils.InferenceResponse([label, score]))
        return responses
