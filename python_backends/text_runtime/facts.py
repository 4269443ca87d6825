"""What a manifest tells of the parts that a release is made of."""

import sys
from dataclasses import dataclass, field
from typing import Protocol

from text_runtime.records import Record
from text_runtime.tokenizers.preparation import TextPreparation


@dataclass(frozen=True)
class SourceFacts(Record):
    """Where a release came from: the kind of source, the checkpoint's folder name, architecture and file hashes.

    `libraries` are the versions of the source's own library, where it ran in an interpreter of its own.
    """

    kind: str
    name: str
    architecture: str
    sha256: dict[str, str]
    libraries: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TokenizerFacts(Record):
    """What the tokenizer step needs beside `tokenizer.json`. `max_length` counts tokens, special ones included.

    `truncation_side` is the end of a text that is cut. Where both texts of a pair are cut and an odd number of tokens
    is left for them, `odd_token` says who gets the one more: the `longer` text (Hugging Face, which gives it to the
    second of two equals) or the `first` (PaddleNLP). `buckets` are the lengths to which rows are padded, ascending, for
    an encoder that batches rows of equal length only; empty for one that takes rows as they are. `preparation` is what
    happens to a text before.
    """

    max_length: int
    pad_token_id: int
    long_text: str = "truncate"
    truncation_side: str = "right"
    odd_token: str = "longer"
    buckets: tuple[int, ...] = ()
    preparation: TextPreparation = TextPreparation()

    def __post_init__(self) -> None:
        if self.max_length < 3:
            raise ValueError(f"max_length {self.max_length} leaves no room for a token between the special ones")
        if self.long_text not in {"truncate", "window"}:
            raise ValueError(f"long_text {self.long_text!r} is neither truncate nor window")
        if self.truncation_side not in {"right", "left"}:
            raise ValueError(f"truncation_side {self.truncation_side!r} is neither right nor left")
        if self.odd_token not in {"longer", "first"}:
            raise ValueError(f"odd_token {self.odd_token!r} is neither longer nor first")
        if list(self.buckets) != sorted(set(self.buckets)) or self.max_length > max(self.buckets, default=sys.maxsize):
            raise ValueError(f"buckets {self.buckets} do not ascend to {self.max_length} tokens")


@dataclass(frozen=True)
class CalibrationFacts(Record):
    """What the ranges of activations were read off: how, and how many texts of which hash."""

    method: str
    texts: int
    sha256: str


@dataclass(frozen=True)
class PruningFacts(Record):
    """How an encoder was made smaller: the share of heads and neurons kept, and what taught it afterwards."""

    share: float
    heads: int
    neurons: int
    recover_epochs: int
    texts: int
    sha256: str


@dataclass(frozen=True)
class EncoderFacts(Record):
    """What runs the encoder: engine, precision, its file, and the graph's own inputs and output.

    `method` says how the precision was reached where there is more than one way; `warnings` say what a user of the
    release should know, one sentence each. `token_rows` and `type_rows` are the rows of the tables of embeddings, 0
    where unknown: an id beyond them stands for nothing.
    """

    engine: str
    precision: str
    model: str
    inputs: tuple[str, ...]
    output: str
    calibration: CalibrationFacts | None = None
    method: str = ""
    pruning: PruningFacts | None = None
    warnings: tuple[str, ...] = ()
    token_rows: int = 0
    type_rows: int = 0


class NetworkFacts(Protocol):
    """What is told of a network in every family."""

    @property
    def engine(self) -> str:
        """What runs it."""

    @property
    def precision(self) -> str:
        """What its weights are in."""

    @property
    def model(self) -> str:
        """Its file."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user of the release should know, one sentence each."""


@dataclass(frozen=True)
class GeneratorFacts(Record):
    """What runs a model that writes: engine, precision of the weights, its file, and what the model can take.

    `context_length` counts tokens, prompt and answer together. `token_rows` are the rows of the table of embeddings.
    `end_ids` end an answer; `begin_id` stands before a prompt, None where nothing does. What the engine computes in and
    keeps its cache in stands here, and is never left to the engine. With `dynamic_quantization` activations are rounded
    to int8 before they meet weights of int8 or int4. Up to `prompt_lookup` tokens at a time are guessed from what was
    written already, and proven by one step; 0 guesses none.
    """

    engine: str
    precision: str
    model: str
    context_length: int
    token_rows: int
    end_ids: tuple[int, ...]
    begin_id: int | None = None
    inference_precision: str = "f32"
    cache_precision: str = "f32"
    dynamic_quantization: bool = True
    prompt_lookup: int = 0
    calibration: CalibrationFacts | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.context_length < 2:
            raise ValueError(f"context_length {self.context_length} leaves no room for a prompt and an answer")
        if not self.end_ids:
            raise ValueError("without end_ids an answer would never end by itself")
