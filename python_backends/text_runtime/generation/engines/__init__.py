"""The engines that continue sequences. A new one is one module beside this file and one line in `_ENGINES`."""

from collections.abc import Callable
from importlib import import_module

from text_runtime.generation.engines.base import EngineSettings, Generator, last_line
from text_runtime.generation.messages import Start
from text_runtime.generation.sampling import SamplingParameters

_ENGINES = {
    "openvino-genai": "text_runtime.generation.engines.openvino_genai:OpenVinoGenerator",
    "vllm": "text_runtime.generation.engines.vllm:VllmGenerator",
}

__all__ = ["EngineSettings", "Generator", "engine_names", "last_line", "load_generator"]


def engine_names() -> list[str]:
    """Names of all registered engines, sorted."""
    return sorted(_ENGINES)


def load_generator(settings: EngineSettings) -> Generator:
    """Load a release's engine, and run it once; it is imported now, and not before.

    Raises:
        ValueError: there is no engine of that name.
        Exception: the engine's own, where it does not load.
    """
    name = settings.facts.engine
    if name not in _ENGINES:
        raise ValueError(f"there is no engine '{name}'; choose one of: {', '.join(engine_names())}")
    module, kind = _ENGINES[name].split(":")
    load: Callable[[EngineSettings], Generator] = getattr(import_module(module), kind)
    generator = load(settings)
    generator.start(Start(0, [min(1, settings.facts.token_rows - 1)] * 2, SamplingParameters(max_tokens=2)))
    while not generator.is_idle:
        generator.step()
    return generator
