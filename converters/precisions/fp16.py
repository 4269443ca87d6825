"""fp16, for GPUs: half the bytes, tensor cores. What overflows or loses small sums in fp16 stays in fp32."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from converters.precisions.base import Feeds

LARGEST = 65504.0
"""The largest finite number of IEEE 754 binary16."""

_KEPT = ("LayerNormalization", "Softmax", "ReduceSum", "ReduceMean")
"""Operators that stay in fp32: LayerNorm squares, softmax exponentiates, sums over many tokens lose their last bits."""


@dataclass(frozen=True)
class Extreme:
    """The tensor with the largest magnitude, or the first that is infinite or NaN."""

    tensor: str
    magnitude: float


def write_fp16(source: Path, target: Path) -> None:
    """Convert an fp32 graph to fp16: every tensor has its type written down, inputs and outputs keep theirs.

    Constants beyond +-10,000 (masks of -1e9) become +-10,000, which adds to a score without becoming infinite.
    """
    import onnx
    from onnxruntime.quantization.onnx_model import ONNXModel
    from onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST, convert_float_to_float16

    kept = [*DEFAULT_OP_BLOCK_LIST, *_KEPT]
    converted = ONNXModel(convert_float_to_float16(onnx.load(str(source)), keep_io_types=True, op_block_list=kept))
    converted.topological_sort()  # the converter puts its casts at the end
    onnx.save(converted.model, str(target))


def extreme_of(path: Path, feeds: Iterable[Feeds]) -> Extreme:
    """Run an fp16 graph and look at every fp16 tensor in it; the first that is not finite ends the search.

    On a CPU ONNX Runtime computes fp16 nodes in fp32 and may drop the rounding between two of them, so that an
    overflow does not reach the output. As an output of the graph each tensor is rounded to fp16, as a GPU would.
    """
    import onnxruntime

    model, names = _with_halves_as_outputs(path)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    worst = Extreme("", 0.0)
    for feed in feeds:
        for name, tensor in zip(names, session.run(names, feed), strict=True):
            magnitude = float(np.abs(tensor.astype(np.float32)).max(initial=0.0))
            if not np.isfinite(magnitude):
                return Extreme(name, magnitude)
            if magnitude > worst.magnitude:
                worst = Extreme(name, magnitude)
    return worst


def _with_halves_as_outputs(path: Path) -> tuple[Any, list[str]]:
    """The graph with every fp16 tensor as an output, and their names in the order in which they are computed."""
    import onnx

    model = onnx.shape_inference.infer_shapes(onnx.load(str(path)))
    halves = {
        value.name: value
        for value in model.graph.value_info
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT16
    }
    names = [name for node in model.graph.node for name in node.output if name in halves]
    model.graph.output.extend(halves[name] for name in names)
    return model, names
