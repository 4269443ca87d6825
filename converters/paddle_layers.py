"""The layer that is exported: a source's model with one output tensor, its padding told by an attention mask.

`[rows, width]` for a head that answers for a text, `[rows, tokens, width]` for one that answers for every token.
"""

import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from converters.sources.architectures import XLM_ROBERTA, Architecture, Head, Mask
from converters.sources.base import Pooling

_NOT_ATTENDED = -1e4
"""What PaddleNLP's own models add to the score of a token that is not attended to."""


@dataclass(frozen=True)
class LayerSpec:
    """What is exported of a model: its architecture, and the pooling of an embedding."""

    architecture: Architecture
    pooling: Pooling | None = None


def served_layer(model: Any, spec: LayerSpec) -> Any:
    """The layer over `model` that takes the graph's inputs, in their order, and gives its only output.

    Its attention mask is INT64 [rows, tokens], 1 for a token and 0 for padding, whatever ids these have.
    """
    import paddle

    has_types = "token_type_ids" in spec.architecture.inputs
    # XLM-RoBERTa would cut its own zeros to a shape that the static graph then keeps.
    is_zero_typed = spec.architecture.family is XLM_ROBERTA
    finish = _finish(spec)

    class ServedLayer(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, second: Any, third: Any = None) -> Any:
            types, mask = (second, third) if has_types else (None, second)
            named = {"token_type_ids": types} if has_types else {}
            if is_zero_typed:
                named["token_type_ids"] = paddle.zeros_like(input_ids)
            named["attention_mask"] = _mask(spec.architecture.family.mask, input_ids, mask)
            return finish(self.model(input_ids, **named), mask)

    layer = ServedLayer()
    layer.eval()
    return layer


def _mask(form: Mask, input_ids: Any, mask: Any) -> Any:
    """The attention mask as the model takes it."""
    attended = mask.astype("float32")
    if form is Mask.PLAIN:
        return attended
    if form is Mask.ADDED_WITHOUT_ZERO:
        attended = attended * (input_ids != 0).astype("float32")
    return ((1.0 - attended) * _NOT_ATTENDED).unsqueeze([1, 2])


def _finish(spec: LayerSpec) -> Any:
    import paddle

    def first(result: Any, mask: Any) -> Any:
        return result[0] if isinstance(result, (tuple, list)) else result

    def spans(result: Any, mask: Any) -> Any:
        return paddle.stack([result[0], result[1]], axis=-1)

    def cls(result: Any, mask: Any) -> Any:
        return first(result, mask)[:, 0]

    def mean(result: Any, mask: Any) -> Any:
        weights = mask.astype("float32").unsqueeze(-1)
        return (first(result, mask) * weights).sum(axis=1) / weights.sum(axis=1)

    def pooler(result: Any, mask: Any) -> Any:
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
