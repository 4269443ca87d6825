"""What a source offers: its model as the truth to compare with, and the ways out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from converters.schema import Schema
from converters.token_rows import NO_TOKEN, HighestToken
from text_runtime.facts import SourceFacts
from text_runtime.tasks import Labels
from text_runtime.tokenizers.preparation import TextPreparation

Array = npt.NDArray[Any]

Offsets = list[tuple[int, int] | None]
"""For each token of a row where its characters begin and end in the text; None where the source does not say."""


class Pooling(Enum):
    """How one vector is made of a text's token vectors; the values are sentence-transformers' own words."""

    CLS = "cls"
    MEAN = "mean"
    MAX = "max"
    MEAN_SQRT_LEN = "mean_sqrt_len"
    WEIGHTED_MEAN = "weightedmean"
    LAST_TOKEN = "lasttoken"
    POOLER = "pooler"


class SourceOptions(Schema, frozen=True):
    """What the user may say about a checkpoint that it does not say itself; None leaves it to the checkpoint.

    `python` is the interpreter that loads a Hugging Face folder, `prompt` the name of one of the checkpoint's prompts.
    """

    kind: str | None = None
    pooling: Pooling | None = None
    python: Path | None = None
    prompt: str | None = None


@dataclass(frozen=True)
class TokenIds:
    """One text (or pair) as the source's own tokenizer encodes it. `type_ids` are 0 where the source has none."""

    ids: list[int]
    type_ids: list[int]


@dataclass(frozen=True)
class TokenizerTraits:
    """What a source says of its tokenizer.

    `longest` counts tokens, special ones included. `truncation_side`, `odd_token` and `preparation` are explained in
    `TokenizerFacts`. `special_tokens` are the words that stand for no text, such as `[PAD]`. `highest_token` is the one
    with the highest id, added tokens included.
    """

    pad_token_id: int
    longest: int
    truncation_side: str = "right"
    odd_token: str = "longer"
    special_tokens: tuple[str, ...] = ()
    highest_token: HighestToken = NO_TOKEN
    preparation: TextPreparation = TextPreparation()


@dataclass(frozen=True)
class TableRows:
    """How many rows the model's tables of embeddings have; 0 where the source does not say."""

    tokens: int = 0
    types: int = 0


class SourceTokenizer(Protocol):
    """A checkpoint's tokenizer: the truth that the written `tokenizer.json` must equal."""

    traits: TokenizerTraits

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
    traits: TokenizerTraits
    """Of its tokenizer; `longest` is the longest row that the model takes too."""
    tables: TableRows

    layer: Any
    """The Paddle layer that is exported, for pruning to look into; None where the source has no such layer."""

    def tokenize(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> list[TokenIds]:
        """Encode with the source's own tokenizer, special tokens added, truncated to `max_length` tokens."""

    def token_offsets(self, texts: Sequence[str], max_length: int) -> list[Offsets]:
        """The offsets of the tokens that `tokenize` gives for texts without pairs; None for special tokens."""

    def write_tokenizer(self, path: Path) -> None:
        """Write the `tokenizer.json` that should encode as the source does."""

    def forward(self, feeds: Mapping[str, Array]) -> Array:
        """The source's own forward pass, in fp32, on INT64 [rows, tokens] inputs, none of whose tokens is padding.

        Gives FP32 [rows, width], or [rows, tokens, width] for a head that answers for every token.
        """

    def answer(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> Array | None:
        """What the source's own library answers from the text on, one row a text.

        Gives scores FP32 [rows, labels], relevance [rows] (or logits [rows, 2]), or vectors [rows, dimension]; None
        where its library has no such way, or the task's answers are no numbers.
        """

    def write_static(self, stem: Path) -> None:
        """Export the graph as Paddle's own in fp32: `STEM.json` and `STEM.pdiparams`.

        Raises:
            CheckpointError: the source has no graph of Paddle's with one output.
        """

    def write_onnx(self, path: Path) -> None:
        """Export the graph as ONNX in fp32, with dynamic rows and tokens."""
