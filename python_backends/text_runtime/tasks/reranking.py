"""reranking: how well a passage (`text_pair`) answers a query (`text`), as one number; higher is better."""

from collections.abc import Sequence

import numpy as np

from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import merged_scores, split_by_request
from text_runtime.tensors import NEW_TOKENS, TEXT, TEXT_PAIR, DataType, TensorSpec


class Reranking(Task):
    """`score` FP32 [1].

    Of a head of one column it is the sigmoid, or the logit where the checkpoint asks for raw scores; of a head of two
    it is the second column's softmax.
    """

    name = "reranking"
    inputs = (TEXT, TEXT_PAIR)
    postprocess_inputs = (NEW_TOKENS,)

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (TensorSpec("score", DataType.FP32, (1,)),)

    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Decode by the head's width."""
        if len(labels.names) not in (1, 2):
            raise ValueError(f"reranking takes a head of one or two columns, not of {len(labels.names)}")
        return _Decoder(labels.activation if len(labels.names) == 1 else "softmax")


class _Decoder:
    def __init__(self, activation: str) -> None:
        self._activation = activation

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        merged = merged_scores(requests, self._activation)
        return split_by_request({"score": np.concatenate(merged)[:, -1:]}, merged)
