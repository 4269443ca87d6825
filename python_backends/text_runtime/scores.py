"""From logits to scores: activations, and the merging of a long text's windows."""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]


def activate(logits: Floats, activation: str) -> Floats:
    """Softmax over the last axis, or the sigmoid of each column; the shape stays as it is. NaN rows stay NaN."""
    if activation == "sigmoid":
        logistic: Floats = 1.0 / (1.0 + np.exp(-logits))
        return logistic
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    scores: Floats = shifted / shifted.sum(axis=-1, keepdims=True)
    return scores


def merge_windows(scores: Floats) -> Floats:
    """Mean of the windows' scores: [rows, windows, columns] -> [rows, columns].

    A row with fewer windows than its neighbours has NaN in the windows that it lacks; they do not count.
    """
    if scores.shape[1] == 1:
        return scores[:, 0]
    merged: Floats = np.nanmean(scores, axis=1)
    return merged
