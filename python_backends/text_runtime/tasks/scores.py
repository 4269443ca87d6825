"""From logits to scores: activations, and the merging of a long text's windows."""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]


def activate(logits: Floats, activation: str) -> Floats:
    """Softmax over the last axis, the sigmoid of each column, or the logits themselves (`identity`).

    The shape stays as it is. NaN rows stay NaN.
    """
    if activation == "identity":
        return logits
    if activation == "sigmoid":
        logistic: Floats = 1.0 / (1.0 + np.exp(-logits))
        return logistic
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    scores: Floats = shifted / shifted.sum(axis=-1, keepdims=True)
    return scores


def merge_windows(values: Floats, new_tokens: npt.NDArray[Any]) -> Floats:
    """Mean over a row's windows, each weighted by its new tokens: [rows, windows, columns] -> [rows, columns].

    A row with fewer windows than its neighbours has NaN in the windows that it lacks; they do not count. The first
    window counts as one token at least, so that an empty text has an answer.

    Args:
        values: FP32 [rows, windows, columns].
        new_tokens: INT32 [rows, windows], tokens that no earlier window of the row has shown.
    """
    if values.shape[1] == 1:
        return values[:, 0]
    weights = np.maximum(new_tokens, [1] + [0] * (values.shape[1] - 1))[:, :, None].astype(values.dtype)
    total = np.where(weights > 0, np.nan_to_num(values) * weights, 0).sum(axis=1)
    merged: Floats = total / weights.sum(axis=1)
    return merged
