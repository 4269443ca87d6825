"""How the outputs of a graph that somebody else exported become the one output that we serve.

A dynamic model is wrapped before it is traced (`paddle_layers`); a static graph is what it is, so the same is done
behind it: with numpy on Paddle's outputs, which are the truth, and with operators appended to the ONNX graph.
"""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

import numpy as np

from converters.sources.architectures import Head
from converters.sources.base import Array, Pooling
from trireme.errors import CheckpointError

PROBE_ROWS, PROBE_TOKENS = 2, 5
"""Two unlike numbers, so that an output's shape says what its dimensions count."""


class Form(Enum):
    """What is done with the outputs; each is [rows, tokens, width] or [rows, width]."""

    FIRST = "the only output as it is"
    SECOND = "the second output, the pooler's"
    STACKED = "two outputs for every token, start and end, side by side"
    CLS = "the first output's first token"
    MEAN = "the first output's mean over the tokens that are no padding"


_POOLED = {Pooling.CLS: Form.CLS, Pooling.MEAN: Form.MEAN, Pooling.POOLER: Form.SECOND}


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
        raise CheckpointError(folder, "does not say how to pool", "use --pooling cls, mean or pooler")
    if pooling is Pooling.POOLER and len(kinds) == 1:
        raise CheckpointError(folder, "its graph has no pooler's output", "use --pooling cls or mean")
    return _POOLED[pooling]


def _require_logits(folder: Path, output: Array) -> None:
    """The pipeline turns logits into scores: it would do so twice."""
    if output.shape[1] > 1 and (output >= 0).all() and np.allclose(output.sum(axis=1), 1, atol=1e-4):
        raise CheckpointError(
            folder, "its graph ends in a softmax", "export it again without: the pipeline has its own"
        )


def combine(form: Form, outputs: Sequence[Array], is_token: Array) -> Array:
    """The served output of Paddle's; `is_token` BOOL [rows, tokens] is false for padding."""
    if form is Form.STACKED:
        return np.stack(outputs[:2], axis=-1)
    if form is Form.CLS:
        return outputs[0][:, 0]
    if form is Form.MEAN:
        weights = is_token[..., None].astype(np.float32)
        mean: Array = (outputs[0] * weights).sum(axis=1) / weights.sum(axis=1)
        return mean
    return outputs[1] if form is Form.SECOND else outputs[0]


def combine_in_graph(path: Path, form: Form, served: tuple[int, ...], pad_token_id: int) -> None:
    """Append to the ONNX graph at `path` what `combine` does, so that it has one output, of the shape of `served`."""
    import onnx
    import onnx.parser

    model = onnx.load(str(path))
    graph = model.graph
    named = {output.name: name for output, name in zip(graph.output, ("our_first", "our_second"), strict=False)}
    for node in graph.node:
        node.input[:] = [named.get(name, name) for name in node.input]
        node.output[:] = [named.get(name, name) for name in node.output]
    body = _BODIES[form].format(pad=pad_token_id)
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
        our_pad = Constant<value_int = {pad}>()
        our_padding = Equal(input_ids, our_pad)
        our_tokens = Not(our_padding)
        our_counts = Cast<to = 1>(our_tokens)
        our_last = Constant<value_ints = [-1]>()
        our_weights = Unsqueeze(our_counts, our_last)
        our_axis = Constant<value_ints = [1]>()
        our_weighted = Mul(our_first, our_weights)
        our_sum = ReduceSum<keepdims = 0>(our_weighted, our_axis)
        our_total = ReduceSum<keepdims = 0>(our_weights, our_axis)
        our_output = Div(our_sum, our_total)
    """,
}
