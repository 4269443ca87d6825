"""Turns an ONNX graph into the file that an engine loads. A new engine is one function here and one in the runtime."""

import shutil
from collections.abc import Callable
from pathlib import Path

from trireme.errors import MissingLibraryError, UnsupportedError

_Build = Callable[[Path, Path], str]


def build(engine: str, onnx: Path, folder: Path) -> str:
    """Write the engine's model into a release's encoder folder; gives the model file's name.

    Raises:
        UnsupportedError: there is no such engine.
    """
    if engine not in _BUILDERS:
        raise UnsupportedError("engine", engine, list(_BUILDERS))
    return _BUILDERS[engine](onnx, folder)


def _build_onnxruntime(onnx: Path, folder: Path) -> str:
    shutil.copyfile(onnx, folder / "model.onnx")
    return "model.onnx"


def _build_openvino(onnx: Path, folder: Path) -> str:
    try:
        import openvino
    except ImportError as error:
        raise MissingLibraryError("openvino", "runtime") from error
    openvino.save_model(openvino.convert_model(str(onnx)), str(folder / "model.xml"), compress_to_fp16=False)
    return "model.xml"


_BUILDERS: dict[str, _Build] = {"onnxruntime": _build_onnxruntime, "openvino": _build_openvino}
