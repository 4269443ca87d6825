"""Reads the inputs and outputs of a graph on disk, as Triton names their types, through the engine's own library."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trireme.errors import MissingLibraryError

_BITS = (8, 16, 32, 64)
# As ONNX Runtime and OpenVINO spell them.
_TYPES = {
    **{f"{prefix}{bits}": f"TYPE_INT{bits}" for prefix in ("int", "i") for bits in _BITS},
    **{f"{prefix}{bits}": f"TYPE_UINT{bits}" for prefix in ("uint", "u") for bits in _BITS},
    **{f"f{bits}": f"TYPE_FP{bits}" for bits in (16, 32, 64)},
    **{"float16": "TYPE_FP16", "float": "TYPE_FP32", "double": "TYPE_FP64"},
    **{"bfloat16": "TYPE_BF16", "bf16": "TYPE_BF16"},
    **{"bool": "TYPE_BOOL", "boolean": "TYPE_BOOL", "string": "TYPE_STRING"},
}


@dataclass(frozen=True)
class GraphTensor:
    """A type as in `config.pbtxt`, and dims with the batch dimension; -1 is one that varies."""

    data_type: str
    dims: tuple[int, ...]


@dataclass(frozen=True)
class Graph:
    """A graph's inputs and outputs by name, and the weights that a request may give in place of the graph's own."""

    inputs: dict[str, GraphTensor]
    outputs: dict[str, GraphTensor]
    initializers: dict[str, GraphTensor] = field(default_factory=dict)


def read_graph(path: Path) -> Graph | None:
    """The graph in a file; None for a kind of file that cannot be looked into here.

    Raises:
        MissingLibraryError: the library that reads it is not installed.
        ValueError: the library cannot load it.
    """
    reader = _READERS.get(path.suffix)
    return reader(path) if reader else None


def _read_onnx(path: Path) -> Graph:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingLibraryError("onnxruntime", "runtime") from error
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    except Exception as error:  # its exceptions share no class but this
        raise ValueError(_first_line(error)) from error
    values = (session.get_inputs(), session.get_outputs(), session.get_overridable_initializers())
    return Graph(*(_onnx_tensors(each) for each in values))


def _onnx_tensors(values: Iterable[Any]) -> dict[str, GraphTensor]:
    """`value.type` is such as `tensor(int64)`; a dim that varies is a name or None."""
    return {
        value.name: GraphTensor(
            _type(value.type.removeprefix("tensor(").removesuffix(")")),
            tuple(size if isinstance(size, int) else -1 for size in value.shape),
        )
        for value in values
    }


def _read_openvino(path: Path) -> Graph:
    try:
        import openvino
    except ImportError as error:
        raise MissingLibraryError("openvino", "runtime") from error
    try:
        model = openvino.Core().read_model(str(path))
    except Exception as error:  # RuntimeError, or what its frontends raise
        raise ValueError(_first_line(error)) from error
    return Graph(_openvino_tensors(model.inputs), _openvino_tensors(model.outputs))


def _openvino_tensors(ports: Iterable[Any]) -> dict[str, GraphTensor]:
    """A port may have several names for one tensor."""
    found = {}
    for port in ports:
        dims = tuple(-1 if size.is_dynamic else size.get_length() for size in port.get_partial_shape())
        for name in port.get_names():
            found[name] = GraphTensor(_type(port.get_element_type().get_type_name()), dims)
    return found


def _type(name: str) -> str:
    return _TYPES.get(name, name)


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


_READERS: dict[str, Callable[[Path], Graph]] = {".onnx": _read_onnx, ".xml": _read_openvino}
