"""Cuts heads and neurons out of a Paddle model in place: what is left is dense."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from converters.pruning.importance import Importance
from converters.pruning.layers import encoder_layers
from converters.sources import SourceModel

Indices = npt.NDArray[Any]


@dataclass(frozen=True)
class Size:
    """What every layer has left."""

    heads: int
    neurons: int


def shrink(source: SourceModel, importance: Sequence[Importance], share: float) -> Size:
    """Keep in each layer that share of its heads and neurons, those that count most; at least one of each."""
    size = Size(0, 0)
    for layer, counts in zip(encoder_layers(source), importance, strict=True):
        heads, neurons = _best(counts.heads, share), _best(counts.neurons, share)
        _cut_heads(layer.self_attn, heads)
        _cut_linear(layer.linear1, columns=neurons)
        _cut_linear(layer.linear2, rows=neurons)
        size = Size(len(heads), len(neurons))
    return size


def _best(importance: npt.NDArray[Any], share: float) -> Indices:
    """Indices of those that count most, ascending."""
    count = max(1, round(len(importance) * share))
    return np.sort(np.argsort(-importance, kind="stable")[:count])


def _cut_heads(attention: Any, heads: Indices) -> None:
    places = (heads[:, None] * attention.head_dim + np.arange(attention.head_dim)).ravel()
    for projection in (attention.q_proj, attention.k_proj, attention.v_proj):
        _cut_linear(projection, columns=places)
    _cut_linear(attention.out_proj, rows=places)
    attention.num_heads, attention.embed_dim = len(heads), len(places)


def _cut_linear(linear: Any, rows: Indices | None = None, columns: Indices | None = None) -> None:
    """Keep these rows and columns of the weight [inputs, outputs], and these columns of the bias."""
    weight, bias = linear.weight.numpy(), None if linear.bias is None else linear.bias.numpy()
    if rows is not None:
        weight = weight[rows]
    if columns is not None:
        weight, bias = weight[:, columns], None if bias is None else bias[columns]
    linear.weight = _parameter(weight)
    if bias is not None:
        linear.bias = _parameter(bias)
    linear.in_features, linear.out_features = weight.shape


def _parameter(values: npt.NDArray[Any]) -> Any:
    import paddle

    start = paddle.nn.initializer.Assign(values)
    return paddle.create_parameter(list(values.shape), str(values.dtype), default_initializer=start)
