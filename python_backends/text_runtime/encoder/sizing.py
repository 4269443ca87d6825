"""How an engine shares the machine: many calls on one thread each, or few calls on several."""

from collections.abc import Mapping
from pathlib import Path

from text_runtime.encoder.cpu import usable_cores
from text_runtime.encoder.engines.base import EngineSpec
from text_runtime.facts import EncoderFacts

_SMALL_MODEL_BYTES = 64 << 20
_THREADS_OF_A_LARGE_MODEL = 4

SHARES = ("threads", "workers")
"""What an encoder's config may choose, as `parameters`: threads of one call, and calls at a time."""


def engine_spec(folder: Path, facts: EncoderFacts, chosen: Mapping[str, int], instances: int = 1) -> EngineSpec:
    """The spec of each of so many engines that share the machine; `chosen` may hold any of `SHARES`.

    A small model loses more by splitting one call over threads than it gains, so each core gets calls of its own. A
    large one keeps several threads busy with one call, and a single text is answered sooner.

    Raises:
        ValueError: a chosen number is below 1.
    """
    for name, number in chosen.items():
        if number < 1:
            raise ValueError(f"parameter '{name}' must be at least 1, not {number}")
    cores = max(1, usable_cores() // instances)
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    usual = 1 if size < _SMALL_MODEL_BYTES else min(cores, _THREADS_OF_A_LARGE_MODEL)
    threads = chosen.get("threads", usual)
    return EngineSpec(folder, facts, threads, chosen.get("workers", max(1, cores // threads)))
