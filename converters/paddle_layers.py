"""The layer that is exported: a source's model, its padding masked, with one output tensor.

`[rows, width]` for a head that answers for a text, `[rows, tokens, width]` for one that answers for every token.
"""

import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from converters.sources.architectures import XLM_ROBERTA, Architecture, Head, Mask
from converters.sources.base import Pooling


@dataclass(frozen=True)
class LayerSpec:
    """What is exported of a model: its architecture, its pad token, and the pooling of an embedding."""

    architecture: Architecture
    pad_token_id: int
    pooling: Pooling | None = None


def served_layer(model: Any, spec: LayerSpec) -> Any:
    """The layer over `model` that has the graph's inputs and its only output."""
    import paddle

    is_masked = spec.architecture.family.mask is not Mask.MODEL
    is_zero_masked = spec.architecture.family.mask is Mask.PAD_AND_ZERO
    has_types = "token_type_ids" in spec.architecture.inputs
    # XLM-RoBERTa would cut its own zeros to a shape that the static graph then keeps.
    is_zero_typed = spec.architecture.family is XLM_ROBERTA
    finish = _finish(spec)

    class ServedLayer(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, token_type_ids: Any = None) -> Any:
            is_token = input_ids != spec.pad_token_id
            named = {"token_type_ids": token_type_ids} if has_types else {}
            if is_zero_typed:
                named["token_type_ids"] = paddle.zeros_like(input_ids)
            if is_masked:
                attended = paddle.logical_and(is_token, input_ids != 0) if is_zero_masked else is_token
                named["attention_mask"] = attended.astype("float32")
            return finish(self.model(input_ids, **named), is_token)

    layer = ServedLayer()
    layer.eval()
    return layer


def _finish(spec: LayerSpec) -> Any:
    import paddle

    def first(result: Any, is_token: Any) -> Any:
        return result[0] if isinstance(result, (tuple, list)) else result

    def spans(result: Any, is_token: Any) -> Any:
        return paddle.stack([result[0], result[1]], axis=-1)

    def cls(result: Any, is_token: Any) -> Any:
        return first(result, is_token)[:, 0]

    def mean(result: Any, is_token: Any) -> Any:
        weights = is_token.astype("float32").unsqueeze(-1)
        return (first(result, is_token) * weights).sum(axis=1) / weights.sum(axis=1)

    def pooler(result: Any, is_token: Any) -> Any:
        return result[1]

    if spec.architecture.head is Head.HIDDEN:
        return {Pooling.CLS: cls, Pooling.MEAN: mean, Pooling.POOLER: pooler}[spec.pooling or Pooling.CLS]
    return spans if spec.architecture.head is Head.SPANS else first


@contextmanager
def exportable(model: Any) -> Iterator[None]:
    """XLM-RoBERTa's attention computes its shapes in Python, which a static graph of dynamic shape cannot hold.

    While this is open, its attention layers compute the same with shapes that Paddle copies from the input.
    """
    layers = [layer for layer in model.sublayers() if type(layer).__name__ == "XLMRobertaSelfAttention"]
    for layer in layers:
        layer.forward = types.MethodType(_attend, layer)
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward


def _attend(self: Any, hidden_states: Any, attention_mask: Any, *unused: Any) -> tuple[Any]:
    import paddle

    heads, size = self.num_attention_heads, self.attention_head_size

    def split(states: Any) -> Any:
        return states.reshape([0, 0, heads, size]).transpose([0, 2, 1, 3])

    query, key, value = (split(layer(hidden_states)) for layer in (self.query, self.key, self.value))
    scores = paddle.matmul(query, key, transpose_y=True) / self.scale + attention_mask
    mixed = paddle.matmul(paddle.nn.functional.softmax(scores, axis=-1), value)
    return (mixed.transpose([0, 2, 1, 3]).reshape([0, 0, heads * size]),)
