"""Precisions of ONNX Runtime: each writes `model.onnx` into a release."""

import logging

import numpy as np

from converters.precisions.base import Recipe, cpu_flags
from converters.precisions.dynamic import prepared, write_dynamic
from converters.precisions.fp16 import write_fp16
from converters.precisions.qdq import TENSORRT, QdqSettings, write_qdq

VNNI = {"avx512_vnni", "avx_vnni", "amx_int8"}
_NAME = "model.onnx"
_BLOCK = 32
_OPSET = 21
"""The first with int4 tensors."""
_INT8_ACCUMULATION = 4
"""`accuracy_level` of MatMulNBits: activations are rounded to int8 by block of a row."""


def quantize_dynamic(recipe: Recipe) -> str:
    """See `write_dynamic`."""
    write_dynamic(recipe.graph, recipe.folder / _NAME)
    return _NAME


def quantize_static(recipe: Recipe) -> str:
    """See `write_qdq`; weights get 7 bits where the CPU has no VNNI."""
    feeds = recipe.required_calibration().feeds(recipe.inputs)
    settings = QdqSettings(is_reduced=not VNNI & cpu_flags())
    write_qdq(recipe.graph, recipe.folder / _NAME, feeds, settings)
    return _NAME


def quantize_for_tensorrt(recipe: Recipe) -> str:
    """See `write_qdq`, with what TensorRT wants."""
    write_qdq(recipe.graph, recipe.folder / _NAME, recipe.required_calibration().feeds(recipe.inputs), TENSORRT)
    return _NAME


def compress_to_int4(recipe: Recipe) -> str:
    """int4 weights (MatMulNBits) and tables (GatherBlockQuantized) in blocks of 32 weights with a scale each."""
    import onnx.version_converter
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

    logging.getLogger(MatMulNBitsQuantizer.__module__).setLevel(logging.ERROR)
    settings = DefaultWeightOnlyQuantConfig(
        block_size=_BLOCK,
        accuracy_level=_INT8_ACCUMULATION,
        bits=4,
        op_types_to_quantize=("MatMul", "Gather"),
        quant_axes=(("MatMul", 0), ("Gather", 1)),
    )
    with prepared(recipe.graph) as graph:
        model = onnx.version_converter.convert_version(onnx.load(str(graph)), _OPSET)
    quantizer = MatMulNBitsQuantizer(model, algo_config=settings)
    with np.errstate(invalid="ignore"):  # the pad token's row is all zero
        quantizer.process()
    quantizer.model.save_model_to_file(str(recipe.folder / _NAME), False)
    return _NAME


def convert_to_fp16(recipe: Recipe) -> str:
    """See `write_fp16`."""
    write_fp16(recipe.graph, recipe.folder / _NAME)
    return _NAME
