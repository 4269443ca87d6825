"""Configs against the graphs that Triton's own ONNX Runtime and OpenVINO backends load."""

from collections.abc import Iterator, Mapping
from typing import Any

from tritonclient.grpc.model_config_pb2 import ModelConfig

from trireme.errors import MissingLibraryError
from trireme.serving.check.graph_file import Graph, GraphTensor, read_graph
from trireme.serving.check.model import Model, Models
from trireme.serving.check.shapes import are_compatible, backend_dims, type_name
from trireme.serving.finding import Finding

_BACKENDS = ("onnxruntime", "openvino")


def agree(model: Model, models: Models) -> Iterator[Finding]:
    """Names, types and dims of the config are those of every version's graph."""
    if model.backend not in _BACKENDS or not (model.config.input or model.config.output):
        return
    for path in model.artifacts():
        try:
            graph = read_graph(path)
        except MissingLibraryError as error:
            yield model.warning("was not looked into", str(error), path)
        except ValueError as error:
            yield model.error(f"does not load: {error}", "convert the model again", path)
        else:
            where = f"{path.parent.name}/{path.name}"
            yield from _differences(model, graph, where) if graph else ()


def _differences(model: Model, graph: Graph, where: str) -> Iterator[Finding]:
    named = {tensor.name for tensor in model.config.input}
    missing = graph.inputs.keys() - named - _given_by_triton(model.config)
    for name in sorted(missing if named or not model.is_completed else ()):
        yield model.error(f"lacks the input '{name}' of {where}", "add it: the graph cannot run without")
    for kind, tensors, known in (
        ("input", model.config.input, graph.inputs | graph.initializers),
        ("output", model.config.output, graph.outputs),
    ):
        for tensor in tensors:
            yield from _difference(model, f"{kind} '{tensor.name}'", tensor, known, where)
    fixed = [name for name, tensor in graph.inputs.items() if tensor.dims[:1] not in ((), (-1,))]
    if model.config.max_batch_size and fixed:
        remedy = "convert the model with a batch dimension that varies, or set max_batch_size: 0"
        yield model.error(f"{where} takes a fixed number of rows in {', '.join(fixed)}", remedy)


def _given_by_triton(config: ModelConfig) -> set[str]:
    """The inputs that no client sends: where a sequence begins and ends, its state, and facts of a ragged batch."""
    sequences = config.sequence_batching
    return {
        *(control.name for control in sequences.control_input),
        *(state.input_name for state in sequences.state),
        *(name for each in config.batch_input for name in each.target_name),
    }


def _difference(
    model: Model, what: str, tensor: Any, known: Mapping[str, GraphTensor], where: str
) -> Iterator[Finding]:
    if tensor.name not in known:
        yield model.error(f"{what} is not in {where}", f"use one of its names: {', '.join(sorted(known))}")
        return
    found = known[tensor.name]
    if tensor.data_type and type_name(tensor) != found.data_type:
        yield model.error(f"{what} is {type_name(tensor)}, in {where} {found.data_type}", f"write {found.data_type}")
    if tensor.dims and model.has_batch_size and not are_compatible(backend_dims(model, tensor), found.dims):
        own = list(found.dims[1:] if model.config.max_batch_size else found.dims)
        problem = f"{what} is {list(backend_dims(model, tensor))}, in {where} {list(found.dims)}, batch included"
        yield model.error(problem, f"write dims: {own}")
