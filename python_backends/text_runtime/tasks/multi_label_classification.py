"""multi-label-classification: any number of labels for each text, each judged against its own threshold."""

from collections.abc import Sequence

import numpy as np
import orjson

from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import Array, merged_scores, split_by_request, strings
from text_runtime.tensors import NEW_TOKENS, DataType, TensorSpec

DEFAULT_THRESHOLD = 0.5


class MultiLabelClassification(Task):
    """`labels` STRING [1]: JSON list of `label` and `score`, best first; `scores` FP32 [labels]."""

    name = "multi-label-classification"
    postprocess_inputs = (NEW_TOKENS,)

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (TensorSpec("labels", DataType.STRING, (1,)), TensorSpec("scores", DataType.FP32, (width,)))

    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Decode by the release's labels and thresholds; the activation is always the sigmoid."""
        return _Decoder(labels)


class _Decoder:
    def __init__(self, labels: Labels) -> None:
        self._names = labels.names
        self._thresholds = np.array(labels.thresholds or [DEFAULT_THRESHOLD] * len(labels.names))

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        merged = merged_scores(requests, "sigmoid")
        scores = np.concatenate(merged)
        return split_by_request({"labels": strings([self._chosen(row) for row in scores]), "scores": scores}, merged)

    def _chosen(self, scores: Array) -> bytes:
        order = [index for index in np.argsort(-scores, kind="stable") if scores[index] >= self._thresholds[index]]
        return orjson.dumps([{"label": self._names[index], "score": float(scores[index])} for index in order])
