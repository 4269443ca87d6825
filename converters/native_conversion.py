"""Paddle2ONNX's native part as a process of its own: `python -m converters.native_conversion GRAPH ONNX`.

It ends the whole process where it meets what it cannot convert. It is loaded without its Python package, which would
import all of Paddle first; and it is not forked, since gRPC's threads do not survive a fork beside them.
"""

import importlib.util
import os
import resource
import subprocess
import sys
from pathlib import Path
from types import ModuleType

OPSET = 17
"""The first ONNX opset with LayerNormalization as one operator, which engines can keep in fp32."""

_NAME = "paddle2onnx_cpp2py_export"


def run_conversion(graph: Path, path: Path) -> "subprocess.CompletedProcess[str]":
    """Convert a static graph in another process; gives how that ended and what it said."""
    paddle = _package("paddle")
    libraries = [str(paddle / "base"), str(paddle / "libs"), os.environ.get("LD_LIBRARY_PATH", "")]
    environment = os.environ | {"LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
    command = [sys.executable, "-m", __name__, str(graph), str(path)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")


def main() -> None:
    """Convert the graph that the command line names."""
    graph, path = (Path(argument) for argument in sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What `paddle2onnx.export` passes: upgrade the opset, silent, check, experimental operators, optimize.
    flags = (True, False, True, True, True)
    weights = str(graph.with_suffix(".pdiparams"))
    path.write_bytes(_native().export(str(graph), weights, OPSET, *flags, {}, "onnxruntime", "", "", False))


def _native() -> ModuleType:
    library = next(_package("paddle2onnx").glob(f"{_NAME}*.so"))
    spec = importlib.util.spec_from_file_location(_NAME, library)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"{name} is not installed")
    return Path(spec.submodule_search_locations[0])


if __name__ == "__main__":
    main()
