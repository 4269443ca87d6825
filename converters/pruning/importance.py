"""What each head and neuron counts for: how much the loss would change without it, to first order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from converters.precisions.base import Progress
from converters.pruning.layers import batch_of, encoder_layers
from converters.sources import SourceModel, TokenIds

_TEXTS_BETWEEN_LINES = 100
_SIGMOIDS = ("multi-label-classification", "reranking")


@dataclass(frozen=True)
class Importance:
    """Of one layer: FP64 [heads] and [neurons]."""

    heads: npt.NDArray[Any]
    neurons: npt.NDArray[Any]


def importance_of(
    source: SourceModel, task_name: str, rows: Sequence[TokenIds], progress: Progress
) -> list[Importance]:
    """The mean over texts of |dL/dg|, where g scales one head's or neuron's output and is 1.

    Michel, Levy and Neubig (2019), "Are Sixteen Heads Really Better than One?", equation 2. A head's output enters the
    model through its rows of the output projection W, so that dL/dg is the sum of W * dL/dW over them; likewise a
    neuron's through its row of the second feed-forward matrix (Hou et al. 2020, "DynaBERT").

    Texts have no labels here: the loss is taken against the model's own answers.
    """
    layers = encoder_layers(source)
    heads = [np.zeros(layer.self_attn.num_heads) for layer in layers]
    neurons = [np.zeros(layer.linear2.weight.shape[0]) for layer in layers]
    for done, row in enumerate(rows):
        if done % _TEXTS_BETWEEN_LINES == 0:
            progress(f"ranking heads and neurons: {done} of {len(rows)} texts")
        _own_loss(source.layer(*batch_of(source, [row])), task_name).backward()
        for index, layer in enumerate(layers):
            effects = _effects(layer.self_attn.out_proj.weight)
            heads[index] += np.abs(effects.reshape(len(heads[index]), -1).sum(axis=1))
            neurons[index] += np.abs(_effects(layer.linear2.weight))
        source.layer.clear_gradients()
    return [Importance(*pair) for pair in zip(heads, neurons, strict=True)]


def _effects(weight: Any) -> npt.NDArray[Any]:
    """Of scaling each row of a matrix: [rows]."""
    effects: npt.NDArray[Any] = (weight * weight.grad).sum(axis=1).numpy()
    return effects


def _own_loss(output: Any, task_name: str) -> Any:
    """The loss of a model against its own answers, which is not at its minimum: answers are never quite sure."""
    from paddle.nn import functional

    answers = output.detach()
    if task_name == "embedding":  # how far the vector loses its own direction
        return -(output * answers).sum()
    if task_name == "information-extraction":
        return functional.binary_cross_entropy(output, (answers > 0.5).astype(output.dtype))
    if task_name in _SIGMOIDS:
        return functional.binary_cross_entropy_with_logits(output, (answers > 0).astype(output.dtype))
    return functional.cross_entropy(output.reshape([-1, output.shape[-1]]), answers.argmax(axis=-1).flatten())
