"""How the outputs of a graph that somebody else exported become the one output that we serve.

A dynamic model is wrapped before it is traced; an exported graph is what it is, so the same is done behind it: with
numpy on the outputs of the graph's own engine, which are the truth, and with operators appended to the ONNX graph.
"""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

import numpy as np

from converters.sources.architectures import Head
from converters.sources.base import Array, Pooling
from trireme.errors import CheckpointError, UnsupportedError

_SMALLEST = -1e9
"""What a token that is padding has in place of its values where the largest is taken."""

PROBE_ROWS, PROBE_TOKENS = 2, 5
"""Two unlike numbers, so that an output's shape says what its dimensions count."""


class Form(Enum):
    """What is done with the outputs; each is [rows, tokens, width] or [rows, width]."""

    FIRST = "the only output as it is"
    SECOND = "the second output, the pooler's"
    STACKED = "two outputs for every token, start and end, side by side"
    CLS = "the first output's first token"
    MEAN = "the first output's mean over the tokens that are no padding"
    MAX = "the first output's largest value over the tokens that are no padding"


_POOLED = {
    Pooling.CLS: Form.CLS,
    Pooling.MEAN: Form.MEAN,
    Pooling.MAX: Form.MAX,
    Pooling.POOLER: Form.SECOND,
}
MASKED = (Form.MEAN, Form.MAX)
"""Forms that must be told which tokens are padding."""


def form_of(folder: Path, head: Head, outputs: Sequence[Array], pooling: Pooling | None) -> Form:
    """The form that makes of a probe's outputs what a head of that kind gives.

    Raises:
        CheckpointError: no form does, or the graph answers with probabilities where the pipeline needs logits.
    """
    kinds = [_kind(output) for output in outputs]
    if head is Head.CLASSES and kinds == ["row"]:
        _require_logits(folder, outputs[0])
        return Form.FIRST
    if head is Head.TOKENS and kinds == ["token"]:
        return Form.FIRST
    if head is Head.SPANS and kinds == ["span", "span"]:
        return Form.STACKED
    if head is Head.HIDDEN and kinds in (["token"], ["token", "row"], ["row"]):
        return _pooled(folder, kinds, pooling)
    shapes = ", ".join(str(list(output.shape)) for output in outputs)
    problem = (
        f"its graph gives {shapes} for {PROBE_ROWS} rows of {PROBE_TOKENS} tokens, which is no {head.tasks[0]} model"
    )
    raise CheckpointError(folder, problem, "choose the --task that the graph was exported for")


def _kind(output: Array) -> str:
    if output.shape == (PROBE_ROWS, PROBE_TOKENS):
        return "span"
    if output.shape[:2] == (PROBE_ROWS, PROBE_TOKENS) and output.ndim == 3:
        return "token"
    return "row" if output.ndim == 2 and len(output) == PROBE_ROWS else "foreign"


def _pooled(folder: Path, kinds: list[str], pooling: Pooling | None) -> Form:
    if kinds == ["row"]:
        if pooling:
            raise CheckpointError(folder, "its graph pools already", "leave --pooling away")
        return Form.FIRST
    if pooling is None:
        choices = ", ".join(known.value for known in _POOLED)
        raise CheckpointError(folder, "does not say how to pool", f"use --pooling with one of: {choices}")
    if pooling not in _POOLED:
        raise UnsupportedError("--pooling of an exported graph", pooling.value, [known.value for known in _POOLED])
    if pooling is Pooling.POOLER and len(kinds) == 1:
        raise CheckpointError(folder, "its graph has no pooler's output", "use --pooling cls or mean")
    return _POOLED[pooling]


def _require_logits(folder: Path, output: Array) -> None:
    """The pipeline turns logits into scores: it would do so twice."""
    if output.shape[1] > 1 and (output >= 0).all() and np.allclose(output.sum(axis=1), 1, atol=1e-4):
        raise CheckpointError(
            folder, "its graph ends in a softmax", "export it again without: the pipeline has its own"
        )


def combine(form: Form, outputs: Sequence[Array], mask: Array) -> Array:
    """The served output of a graph's own; `mask` [rows, tokens] is 1 for a token and 0 for padding."""
    if form is Form.STACKED:
        return np.stack(outputs[:2], axis=-1)
    if form is Form.CLS:
        return outputs[0][:, 0]
    if form is Form.MEAN:
        weights = mask[..., None].astype(np.float32)
        mean: Array = (outputs[0] * weights).sum(axis=1) / weights.sum(axis=1)
        return mean
    if form is Form.MAX:
        largest: Array = np.where(mask[..., None] > 0, outputs[0], np.float32(_SMALLEST)).max(axis=1)
        return largest
    return outputs[1] if form is Form.SECOND else outputs[0]


def combine_in_graph(path: Path, form: Form, served: tuple[int, ...]) -> None:
    """Append to the ONNX graph at `path` what `combine` does, so that it has one output, of the shape of `served`.

    A form that must know the padding gives the graph an `attention_mask` where it has none.
    """
    import onnx
    import onnx.parser

    model = onnx.load(str(path))
    graph = model.graph
    named = {output.name: name for output, name in zip(graph.output, ("our_first", "our_second"), strict=False)}
    for node in graph.node:
        node.input[:] = [named.get(name, name) for name in node.input]
        node.output[:] = [named.get(name, name) for name in node.output]
    if form in MASKED and "attention_mask" not in {value.name for value in graph.input}:
        graph.input.append(
            onnx.helper.make_tensor_value_info("attention_mask", onnx.TensorProto.INT64, ["rows", "tokens"])
        )
    body = _BODIES[form]
    dims = ", ".join([*("rows", "tokens")[: len(served) - 1], str(served[-1])])
    tail = onnx.parser.parse_graph(f"tail () => (float[{dims}] our_output) {{ {body} }}")
    graph.node.extend(tail.node)
    del graph.output[:]
    graph.output.extend(tail.output)
    onnx.save(model, str(path))


# In ONNX's own text format; the names are ours alone, since Paddle2ONNX's have dots.
_BODIES = {
    Form.FIRST: "our_output = Identity(our_first)",
    Form.SECOND: "our_output = Identity(our_second)",
    Form.STACKED: """
        our_last = Constant<value_ints = [-1]>()
        our_starts = Unsqueeze(our_first, our_last)
        our_ends = Unsqueeze(our_second, our_last)
        our_output = Concat<axis = -1>(our_starts, our_ends)
    """,
    Form.CLS: """
        our_zero = Constant<value_int = 0>()
        our_output = Gather<axis = 1>(our_first, our_zero)
    """,
    Form.MEAN: """
        our_counts = Cast<to = 1>(attention_mask)
        our_last = Constant<value_ints = [-1]>()
        our_weights = Unsqueeze(our_counts, our_last)
        our_axis = Constant<value_ints = [1]>()
        our_weighted = Mul(our_first, our_weights)
        our_sum = ReduceSum<keepdims = 0>(our_weighted, our_axis)
        our_total = ReduceSum<keepdims = 0>(our_weights, our_axis)
        our_output = Div(our_sum, our_total)
    """,
    Form.MAX: f"""
        our_attended = Cast<to = 9>(attention_mask)
        our_last = Constant<value_ints = [-1]>()
        our_is_token = Unsqueeze(our_attended, our_last)
        our_smallest = Constant<value_float = {_SMALLEST}>()
        our_kept = Where(our_is_token, our_first, our_smallest)
        our_output = ReduceMax<axes = [1], keepdims = 0>(our_kept)
    """,
}
