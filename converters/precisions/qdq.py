"""int8 with ranges read off real texts, as an ONNX graph of QuantizeLinear and DequantizeLinear pairs (QDQ).

Engines fuse the pairs into int8 kernels. Products of two activations (queries with keys, weights with values) stay in
fp32: they hold no weights, and their rounding costs more agreement than it saves time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from converters.precisions.base import Feeds
from converters.precisions.dynamic import prepared


@dataclass(frozen=True)
class QdqSettings:
    """How a graph is quantized.

    `is_symmetric` activations have no zero point, as TensorRT demands. `has_tables` quantizes embeddings too.
    `is_reduced` gives weights 7 bits: without VNNI, x86 adds pairs of int8 products in 16 bits, which overflow.
    """

    is_symmetric: bool = False
    has_tables: bool = True
    is_reduced: bool = False


TENSORRT = QdqSettings(is_symmetric=True, has_tables=False)
"""What TensorRT builds int8 kernels from: the rest of the graph keeps its type."""


def write_qdq(source: Path, target: Path, calibration: Iterable[Feeds], settings: QdqSettings) -> None:
    """Quantize an fp32 graph: weights by output column, activations by tensor from their minimum to their maximum.

    Args:
        source: the fp32 graph.
        target: where the QDQ graph goes.
        calibration: inputs of the graph, one text each.
        settings: what the engine wants.
    """
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    with prepared(source) as graph:
        quantize_static(
            graph,
            target,
            _reader(calibration),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["MatMul", "Gather"] if settings.has_tables else ["MatMul"],
            per_channel=True,
            reduce_range=settings.is_reduced,
            activation_type=QuantType.QInt8 if settings.is_symmetric else QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=list(_products_of_activations(graph)),
            extra_options={"ActivationSymmetric": settings.is_symmetric},
        )


def _reader(calibration: Iterable[Feeds]) -> Any:
    from onnxruntime.quantization import CalibrationDataReader

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self._feeds = iter(calibration)

        def get_next(self) -> Feeds | None:
            return next(self._feeds, None)

    return Reader()


def _products_of_activations(graph: Path) -> Iterator[str]:
    import onnx

    model = onnx.load(str(graph), load_external_data=False)
    constants = {tensor.name for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "MatMul" and not constants & set(node.input):
            yield node.name
