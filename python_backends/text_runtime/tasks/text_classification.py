"""text-classification: one label of several for each text, with its score and all scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.scores import activate, merge_windows
from text_runtime.tasks.base import Decoder, Labels, Task, Tensors
from text_runtime.tensors import DataType, TensorSpec


class TextClassification(Task):
    """`label` STRING [1], `score` FP32 [1], `scores` FP32 [labels]."""

    name = "text-classification"

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (
            TensorSpec("label", DataType.STRING, (1,)),
            TensorSpec("score", DataType.FP32, (1,)),
            TensorSpec("scores", DataType.FP32, (width,)),
        )

    def encoder_output(self, width: int) -> TensorSpec:
        """`logits` FP32 [windows, labels]."""
        return TensorSpec("logits", DataType.FP32, (-1, width))

    def decoder(self, labels: Labels) -> Decoder:
        """Decode by the release's labels and activation."""
        return _Decoder(labels)


class _Decoder:
    def __init__(self, labels: Labels) -> None:
        self._names: npt.NDArray[Any] = np.array([name.encode() for name in labels.names], dtype=np.object_)
        self._activation = labels.activation

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        merged = [merge_windows(activate(request["logits"], self._activation)) for request in requests]
        scores = np.concatenate(merged)
        best = scores.argmax(axis=1)
        columns = {
            "label": self._names[best][:, None],
            "score": scores[np.arange(len(best)), best][:, None],
            "scores": scores,
        }
        bounds = np.cumsum([len(rows) for rows in merged])[:-1]
        split = {name: np.split(column, bounds) for name, column in columns.items()}
        return [{name: parts[index] for name, parts in split.items()} for index in range(len(requests))]
