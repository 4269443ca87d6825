"""Engines that load the fp32 graph as it is; OpenVINO and Paddle compute it in bf16 by themselves where told to."""

import shutil
from pathlib import Path
from typing import Any

from converters.precisions.base import Recipe
from trireme.errors import MissingLibraryError


def copy_onnx(recipe: Recipe) -> str:
    """The ONNX graph itself."""
    shutil.copyfile(recipe.graph, recipe.folder / "model.onnx")
    return "model.onnx"


def copy_paddle(recipe: Recipe) -> str:
    """Paddle's static graph itself. For bf16 too: oneDNN rounds when it loads."""
    for suffix in (".json", ".pdiparams"):
        shutil.copyfile(recipe.graph.with_suffix(suffix), recipe.folder / f"model{suffix}")
    return "model.json"


def convert_to_openvino(recipe: Recipe) -> str:
    """OpenVINO's own representation, with fp32 weights. For bf16 too: the engine rounds when it loads."""
    return save_openvino(read_openvino(recipe.graph), recipe.folder)


def read_openvino(onnx: Path) -> Any:
    """An ONNX graph as OpenVINO's model."""
    try:
        import openvino
    except ImportError as error:
        raise MissingLibraryError("openvino", "runtime") from error
    return openvino.convert_model(str(onnx))


def save_openvino(model: Any, folder: Path) -> str:
    """Write `model.xml` and `model.bin` without changing any weight's precision."""
    import openvino

    openvino.save_model(model, str(folder / "model.xml"), compress_to_fp16=False)
    return "model.xml"
