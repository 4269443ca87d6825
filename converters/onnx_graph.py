"""The ONNX graph between a source and the engines: named as ours, checked, and looked into."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy.typing as npt

from trireme.errors import CheckpointError, GateError, MissingLibraryError

Array = npt.NDArray[Any]
_RENAMING = ("Cast", "Identity")
"""Operators behind which ids are still the same ids."""


def name_output(path: Path, output: str) -> None:
    """Rename the graph's only output, which the exporter named by accident (`fetch_name_0`).

    Raises:
        GateError: the file is not a valid ONNX graph, or has several outputs.
    """
    onnx = _import_onnx()
    model = _load(path)
    if len(model.graph.output) != 1:
        raise GateError("graph", f"it has {len(model.graph.output)} outputs instead of one")
    accidental = model.graph.output[0].name
    for node in model.graph.node:
        node.output[:] = [output if name == accidental else name for name in node.output]
        node.input[:] = [output if name == accidental else name for name in node.input]
    model.graph.output[0].name = output
    onnx.save(model, str(path))


def check(path: Path, inputs: tuple[str, ...], output: str, width: int) -> str:
    """The graph gate: valid ONNX, our names, dynamic rows and tokens, `width` columns. Gives a line of facts.

    Raises:
        GateError: any of these does not hold.
    """
    onnx = _import_onnx()
    model = _load(path)
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise GateError("graph", f"ONNX refuses it ({str(error).splitlines()[0]})") from error
    found = {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in model.graph.input
    }
    if tuple(sorted(found)) != tuple(sorted(inputs)):
        raise GateError("graph", f"its inputs are {sorted(found)}, not {sorted(inputs)}")
    for name, dims in found.items():
        if any(isinstance(size, int) and size > 0 for size in dims):
            raise GateError("graph", f"input '{name}' has the fixed shape {dims}; rows and tokens must be dynamic")
    types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    if odd := sorted(name for name, kind in types.items() if kind != onnx.TensorProto.INT64):
        raise GateError("graph", f"its inputs {', '.join(odd)} are not INT64, which the steps before give")
    columns = model.graph.output[0].type.tensor_type.shape.dim[-1].dim_value
    if model.graph.output[0].name != output or columns not in (0, width):
        raise GateError(
            "graph",
            f"its output is {model.graph.output[0].name} of {columns} columns, not {output} of {width}",
        )
    return f"opset {model.opset_import[0].version}, {len(model.graph.node)} nodes"


def table_rows(path: Path, name: str) -> int:
    """How many rows the table has in which the graph looks up the ids of an input; 0 where it is not found."""
    model = _load(path)
    sizes = {tensor.name: tensor.dims[0] for tensor in model.graph.initializer if tensor.dims}
    same, found = {name}, []
    for node in model.graph.node:
        if node.op_type in _RENAMING and node.input[0] in same:
            same.update(node.output)
        if node.op_type == "Gather" and node.input[1] in same and node.input[0] in sizes:
            found.append(int(sizes[node.input[0]]))
    return min(found, default=0)


class OnnxSession:
    """A graph in ONNX Runtime on the CPU, as a source or an exporter left it.

    Raises:
        CheckpointError: it does not load.
    """

    def __init__(self, path: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's exceptions are its own
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            problem = f"{path.name} does not load in ONNX Runtime ({reason})"
            raise CheckpointError(path.parent, problem, "export the graph again") from error
        self.inputs: tuple[str, ...] = tuple(value.name for value in self._session.get_inputs())

    def __call__(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Every output, in the graph's order, for INT64 [rows, tokens] inputs.

        Raises:
            RuntimeError: the graph does not take them.
        """
        try:
            return list(self._session.run(None, {name: feeds[name] for name in self.inputs}))
        except Exception as error:
            raise RuntimeError(str(error)) from error


def _load(path: Path) -> Any:
    onnx = _import_onnx()
    try:
        return onnx.load(str(path))
    except Exception as error:
        raise GateError("graph", f"{path.name} is not an ONNX file ({type(error).__name__})") from error


def _import_onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.shape_inference
    except ImportError as error:
        raise MissingLibraryError("onnx", "convert") from error
    return onnx
