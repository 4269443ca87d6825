"""What an engine is: one function from padded token ids to the encoder's output."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from text_runtime.facts import EncoderFacts


class Engine(Protocol):
    """A loaded encoder. As many threads call it at a time as its spec has workers."""

    def __call__(self, feeds: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Run the graph on INT64 [rows, tokens] inputs; gives FP32 [rows, width] or [rows, tokens, width]."""


@dataclass(frozen=True)
class EngineSpec:
    """What an engine needs to load: the folder, what the release says of its encoder, and its share of the machine.

    `workers` calls run at a time, each on `threads` threads.
    """

    folder: Path
    facts: EncoderFacts
    threads: int
    workers: int = 1

    @property
    def model_path(self) -> Path:
        """The model file."""
        return self.folder / self.facts.model
