"""What an engine is to the process that runs it: sequences in, tokens out, step by step."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from text_runtime.facts import GeneratorFacts
from text_runtime.generation.messages import Load, Start, Tokens

CHUNK_TOKENS = 256
"""A long prompt is read in pieces of so many tokens, so that it holds up nobody's next token for long."""
QUANTIZATION_GROUP = 32
"""So many activations share a scale where they are rounded to int8 on the fly."""


@dataclass(frozen=True)
class EngineSettings:
    """A release's files and facts, and its share of the machine: threads, and GiB for its KV cache."""

    folder: Path
    facts: GeneratorFacts
    threads: int
    cache_gib: int = 1
    max_sequences: int = 64


class Generator(ABC):
    """Continues many sequences at once. One thread owns it; no call may come from another."""

    @abstractmethod
    def start(self, start: Start) -> None:
        """Take a sequence in.

        Raises:
            ValueError: the engine refuses it.
        """

    @abstractmethod
    def cancel(self, sequence: int) -> None:
        """Let go of a sequence, also of one that has ended or never was."""

    @abstractmethod
    def step(self) -> list[Tokens]:
        """Compute once for all sequences; gives what was added to each."""

    @abstractmethod
    def score(self, ids: Sequence[int]) -> list[float]:
        """The log-probability of every token of a text but the first; for gates, while nothing else is computed."""

    @property
    @abstractmethod
    def is_idle(self) -> bool:
        """Whether there is nothing to compute."""

    @property
    @abstractmethod
    def load(self) -> Load:
        """How busy it is."""


def last_line(error: Exception) -> str:
    """The last line of an error of an engine's: before it stand its own files and lines."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
