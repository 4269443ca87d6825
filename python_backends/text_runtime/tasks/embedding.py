"""embedding: one vector for each text. The graph pools; this step merges windows and normalises."""

from collections.abc import Sequence

import numpy as np

from text_runtime.scores import merge_windows
from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import split_by_request
from text_runtime.tensors import NEW_TOKENS, DataType, TensorSpec

_SHORTEST = 1e-12


class Embedding(Task):
    """`embedding` FP32 [dimension]."""

    name = "embedding"
    postprocess_inputs = (NEW_TOKENS,)
    has_labels = False

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (TensorSpec("embedding", DataType.FP32, (width,)),)

    def encoder_output(self, width: int) -> TensorSpec:
        """`pooled` FP32 [windows, dimension]."""
        return TensorSpec("pooled", DataType.FP32, (-1, width))

    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Merge, and normalise where the release says so."""
        return _Decoder(labels.is_normalized)


class _Decoder:
    def __init__(self, is_normalized: bool) -> None:
        self._is_normalized = is_normalized

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        merged = [merge_windows(request["pooled"], request["new_tokens"]) for request in requests]
        vectors = np.concatenate(merged)
        if self._is_normalized:
            vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _SHORTEST)
        return split_by_request({"embedding": vectors.astype(np.float32)}, merged)
