"""What a source offers: its model as the truth to compare with, and the ways out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from text_runtime.manifest import SourceFacts
from text_runtime.tasks import Labels

Array = npt.NDArray[Any]

Offsets = list[tuple[int, int] | None]
"""For each token of a row where its characters begin and end in the text; None where the source does not say."""


class Pooling(Enum):
    """How one vector is made of a text's token vectors."""

    CLS = "cls"
    MEAN = "mean"
    POOLER = "pooler"


@dataclass(frozen=True)
class SourceOptions:
    """What the user may say about a checkpoint that it does not say itself; None leaves it to the checkpoint."""

    kind: str | None = None
    pooling: Pooling | None = None


@dataclass(frozen=True)
class TokenIds:
    """One text (or pair) as the source's own tokenizer encodes it. `type_ids` are 0 where the source has none."""

    ids: list[int]
    type_ids: list[int]


class SourceTokenizer(Protocol):
    """A checkpoint's tokenizer: the truth that the written `tokenizer.json` must equal."""

    pad_token_id: int
    longest: int
    """The longest row that the checkpoint's tokenizer allows, in tokens."""
    truncation_side: str
    odd_token: str
    """See `TokenizerFacts`."""

    def encode(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> list[TokenIds]:
        """Encode with special tokens, truncated to `max_length` tokens, the longer text of a pair first."""

    def offsets(self, texts: Sequence[str], max_length: int) -> list[Offsets]:
        """The offsets of the tokens that `encode` gives for texts without pairs; None for special tokens."""

    def write(self, path: Path) -> None:
        """Write the `tokenizer.json` that should encode as the source does."""


class SourceModel(Protocol):
    """An opened checkpoint."""

    facts: SourceFacts
    labels: Labels
    width: int
    """The encoder's output columns: labels, or the embedding's dimension."""
    is_normalized: bool
    """Whether the source scales its embeddings to length 1. The graph never does."""
    graph_inputs: tuple[str, ...]
    pad_token_id: int
    longest: int
    """The longest row that the model takes, in tokens."""
    truncation_side: str
    odd_token: str
    """See `TokenizerFacts`."""

    layer: Any
    """The Paddle layer that is exported, for pruning to look into; None where the source has a graph only."""

    def tokenize(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> list[TokenIds]:
        """Encode with the source's own tokenizer, special tokens added, truncated to `max_length` tokens."""

    def token_offsets(self, texts: Sequence[str], max_length: int) -> list[Offsets]:
        """The offsets of the tokens that `tokenize` gives for texts without pairs; None for special tokens."""

    def write_tokenizer(self, path: Path) -> None:
        """Write the `tokenizer.json` that should encode as the source does."""

    def forward(self, feeds: Mapping[str, Array]) -> Array:
        """The source's own forward pass, in fp32, on INT64 [rows, tokens] inputs.

        Gives FP32 [rows, width], or [rows, tokens, width] for a head that answers for every token.
        """

    def write_static(self, stem: Path) -> None:
        """Export the graph as Paddle's own in fp32: `STEM.json` and `STEM.pdiparams`.

        Raises:
            CheckpointError: the source has no graph of one output.
        """

    def write_onnx(self, path: Path) -> None:
        """Export the graph as ONNX in fp32, with dynamic rows and tokens."""
