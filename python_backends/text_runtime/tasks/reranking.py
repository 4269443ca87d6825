"""reranking: how well a passage (`text_pair`) answers a query (`text`), as one number from 0 to 1."""

from collections.abc import Sequence

import numpy as np

from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import merged_scores, split_by_request
from text_runtime.tensors import NEW_TOKENS, TEXT, TEXT_PAIR, DataType, TensorSpec


class Reranking(Task):
    """`score` FP32 [1]: the sigmoid of a head of one column, or the second column's softmax of a head of two."""

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
        return _decode_single if len(labels.names) == 1 else _decode_double


def _decode_single(requests: Sequence[Tensors]) -> list[Tensors]:
    return _decode(requests, "sigmoid")


def _decode_double(requests: Sequence[Tensors]) -> list[Tensors]:
    return _decode(requests, "softmax")


def _decode(requests: Sequence[Tensors], activation: str) -> list[Tensors]:
    merged = merged_scores(requests, activation)
    return split_by_request({"score": np.concatenate(merged)[:, -1:]}, merged)
