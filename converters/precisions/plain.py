"""Engines that load the fp32 graph as it is; OpenVINO computes it in bf16 by itself where it is told to."""

import shutil

from converters.precisions.base import Recipe
from trireme.errors import MissingLibraryError


def copy_onnx(recipe: Recipe) -> str:
    """The ONNX graph itself."""
    shutil.copyfile(recipe.onnx, recipe.folder / "model.onnx")
    return "model.onnx"


def convert_to_openvino(recipe: Recipe) -> str:
    """OpenVINO's own representation, with fp32 weights."""
    try:
        import openvino
    except ImportError as error:
        raise MissingLibraryError("openvino", "runtime") from error
    model = openvino.convert_model(str(recipe.onnx))
    openvino.save_model(model, str(recipe.folder / "model.xml"), compress_to_fp16=False)
    return "model.xml"


def convert_to_bf16(recipe: Recipe) -> str:
    """The same as fp32: the engine rounds when it loads. Refused where the CPU has no bf16 instructions.

    Raises:
        PrecisionError: the CPU lacks them, so that bf16 would be emulated, slower than fp32.
    """
    recipe.require_cpu({"avx512_bf16", "amx_bf16"})
    return convert_to_openvino(recipe)
