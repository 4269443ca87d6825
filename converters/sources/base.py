"""What a source offers: its model as the truth to compare with, and the ways out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from text_runtime.manifest import SourceFacts
from text_runtime.tasks import Labels

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class TokenIds:
    """One text (or pair) as the source's own tokenizer encodes it."""

    ids: list[int]
    type_ids: list[int]


class SourceModel(Protocol):
    """An opened checkpoint."""

    facts: SourceFacts
    labels: Labels
    """The names of the head's columns; none for a task without labels."""
    width: int
    """Columns of the graph's output: labels, or the embedding's dimension."""
    graph_inputs: tuple[str, ...]
    pad_token_id: int
    longest: int
    """The longest row that the model takes, in tokens."""

    def tokenize(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> list[TokenIds]:
        """Encode with the source's own tokenizer, special tokens added, truncated to `max_length` tokens."""

    def write_tokenizer(self, path: Path) -> None:
        """Write the `tokenizer.json` that should encode as the source does."""

    def forward(self, feeds: Mapping[str, Array]) -> Array:
        """The source's own dynamic forward pass, in fp32, on INT64 [rows, tokens] inputs."""

    def write_onnx(self, path: Path) -> None:
        """Export the graph as ONNX in fp32, with dynamic rows and tokens."""
