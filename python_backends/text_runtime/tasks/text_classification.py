"""text-classification: one label of several for each text, with its score and all scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import merged_scores, split_by_request
from text_runtime.tensors import NEW_TOKENS, TEXT, TEXT_PAIR, DataType, TensorSpec


class TextClassification(Task):
    """`label` STRING [1], `score` FP32 [1], `scores` FP32 [labels]."""

    name = "text-classification"
    postprocess_inputs = (NEW_TOKENS,)

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (
            TensorSpec("label", DataType.STRING, (1,)),
            TensorSpec("score", DataType.FP32, (1,)),
            TensorSpec("scores", DataType.FP32, (width,)),
        )

    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Decode by the release's labels and activation."""
        return _Decoder(labels)


class TextPairClassification(TextClassification):
    """As text-classification, for `text` and `text_pair` together."""

    name = "text-pair-classification"
    inputs = (TEXT, TEXT_PAIR)


class _Decoder:
    def __init__(self, labels: Labels) -> None:
        self._names: npt.NDArray[Any] = np.array([name.encode() for name in labels.names], dtype=np.object_)
        self._activation = labels.activation

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        merged = merged_scores(requests, self._activation)
        scores = np.concatenate(merged)
        best = scores.argmax(axis=1)
        columns = {
            "label": self._names[best][:, None],
            "score": scores[np.arange(len(best)), best][:, None],
            "scores": scores,
        }
        return split_by_request(columns, merged)
