"""The engines that continue sequences. A new one is one module beside this file and one line in `_LOADERS`."""

from collections.abc import Callable
from importlib import import_module

from text_runtime.generation.engines.base import EngineSettings, Generator

_LOADERS = {
    "openvino-genai": "text_runtime.generation.engines.openvino_genai:load",
    "vllm": "text_runtime.generation.engines.vllm:load",
}

__all__ = ["EngineSettings", "Generator", "engine_names", "load_generator"]


def engine_names() -> list[str]:
    """Names of all registered engines, sorted."""
    return sorted(_LOADERS)


def load_generator(settings: EngineSettings) -> Generator:
    """Load a release's engine; it is imported now, and not before.

    Raises:
        ValueError: there is no engine of that name.
        Exception: the engine's own, where it does not load.
    """
    name = settings.facts.engine
    if name not in _LOADERS:
        raise ValueError(f"there is no engine '{name}'; choose one of: {', '.join(engine_names())}")
    module, function = _LOADERS[name].split(":")
    load: Callable[[EngineSettings], Generator] = getattr(import_module(module), function)
    return load(settings)
