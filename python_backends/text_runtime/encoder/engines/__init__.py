"""The engines that run an encoder. A new engine is one module beside this file and one line in `_ENGINES`."""

from collections.abc import Callable

from text_runtime.encoder.engines.base import Engine, EngineSpec
from text_runtime.encoder.engines.onnxruntime import OnnxRuntimeEngine
from text_runtime.encoder.engines.openvino import OpenVinoEngine
from text_runtime.encoder.engines.paddle import PaddleEngine

_ENGINES: dict[str, Callable[[EngineSpec], Engine]] = {
    "onnxruntime": OnnxRuntimeEngine,
    "openvino": OpenVinoEngine,
    "paddle": PaddleEngine,
}

__all__ = ["Engine", "EngineSpec", "engine_names", "load_engine"]


def load_engine(spec: EngineSpec) -> Engine:
    """Load a release's encoder.

    Raises:
        ValueError: the engine is not a registered one, or its model file is missing.
    """
    name = spec.facts.engine
    if name not in _ENGINES:
        raise ValueError(f"engine '{name}' is not one of {engine_names()}")
    if not spec.model_path.is_file():
        raise ValueError(f"model file {spec.model_path} is missing: export the release again")
    return _ENGINES[name](spec)


def engine_names() -> list[str]:
    """Names of all registered engines, sorted."""
    return sorted(_ENGINES)
