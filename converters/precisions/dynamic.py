"""int8 without calibration: weights are rounded once, activations anew for every batch."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_dynamic(source: Path, target: Path) -> None:
    """ONNX Runtime's dynamic quantization of every matrix product with a constant, and of the tables of embeddings.

    Tables are most of a small model's bytes. One scale serves a whole batch of activations, so that a row's answer
    depends a little on its neighbours and on padding; ONNX Runtime has no scales by row.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with prepared(source) as graph:
        quantize_dynamic(graph, target, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul", "Gather"])


@contextmanager
def prepared(source: Path) -> Iterator[Path]:
    """A copy of a graph with shapes inferred and constants folded, as ONNX Runtime's quantizers want it."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with tempfile.TemporaryDirectory(prefix="trireme-quantize-") as scratch:
        path = Path(scratch) / "prepared.onnx"
        quant_pre_process(str(source), str(path), skip_symbolic_shape=True)
        yield path
