"""The small requests by which health is told: a text for a pipeline, ones for any model."""

from typing import Any

import numpy as np
import numpy.typing as npt
import tritonclient.grpc as triton_grpc
from tritonclient.grpc.model_config_pb2 import DataType, ModelConfig, ModelInput
from tritonclient.utils import triton_to_np_dtype

from text_runtime.probe import TEXTS, probe_of


def probe_columns(config: ModelConfig) -> dict[str, list[str]]:
    """One row for every input of a pipeline."""
    return {name: [text] for name, text in probe_of(tensor.name for tensor in config.input).items()}


def strings(name: str, texts: list[str]) -> triton_grpc.InferInput:
    """One text a row."""
    column = np.array([[text.encode()] for text in texts], dtype=np.object_)
    return _filled(name, "BYTES", column)


def ones(tensor: ModelInput) -> triton_grpc.InferInput:
    """One row for an input, whatever its type; sizes that vary are 1.

    A pipeline's inputs get its probe: a request that fails would be held against the release of a canary that it meets.
    """
    kind = DataType.Name(tensor.data_type).removeprefix("TYPE_").replace("STRING", "BYTES")
    shape = [1, *(max(1, size) for size in tensor.dims)]
    if kind == "BYTES":
        return _filled(tensor.name, kind, np.full(shape, TEXTS.get(tensor.name, "1").encode(), dtype=np.object_))
    return _filled(tensor.name, kind, np.ones(shape, triton_to_np_dtype(kind)))


def _filled(name: str, kind: str, values: npt.NDArray[Any]) -> triton_grpc.InferInput:
    filled = triton_grpc.InferInput(name, list(values.shape), kind)
    filled.set_data_from_numpy(values)
    return filled


def flaw(config: ModelConfig, result: triton_grpc.InferResult) -> str:
    """What keeps an answer from being whole: an output that is missing, empty or not finite; nothing if it is whole."""
    for output in config.output:
        values = result.as_numpy(output.name)
        if values is None or not values.size or not _is_finite(values):
            return f"output '{output.name}' is missing, empty or not finite"
    return ""


def _is_finite(values: npt.NDArray[Any]) -> bool:
    return values.dtype == np.object_ or bool(np.isfinite(values).all())
