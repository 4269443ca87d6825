"""A release's manifest: where it came from, how it was made, how it scored, and the hash of every file.

The same `manifest.json` stands in the release's folder of every step, so each step knows the whole release. Steps read
their own settings from it; nobody else writes any.
"""

import hashlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from text_runtime.records import FormatError, Record, fields_of, read_record, require_format
from text_runtime.tokenizers.preparation import TextPreparation

FILE_NAME = "manifest.json"
FORMAT = 1
ENCODER_FAMILY = "encoder"
"""The family of every pipeline whose files name none: there was no other when they were written."""
GENERATION_FAMILY = "generation"


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


PASSED = "passed"
REFUSED = "refused"


@dataclass(frozen=True)
class GateRow(Record):
    """One gate's verdict on a candidate; `value` is what it measured and `limit` what it allows, where it measures."""

    gate: str
    status: str
    detail: str
    value: float | None = None
    limit: float | None = None


@dataclass(frozen=True)
class EvaluationFacts(Record):
    """How a release does on labelled texts, beside its source in fp32; the metric's values are shares of one."""

    metric: str
    value: float
    source_value: float
    drop_points: float
    texts: int
    sha256: str


@dataclass(frozen=True)
class GeneratorFacts(Record):
    """What runs a model that writes: engine, precision of the weights, its file, and what the model can take.

    `context_length` counts tokens, prompt and answer together. `token_rows` are the rows of the table of embeddings.
    `end_ids` end an answer; `begin_id` stands before a prompt, None where nothing does. What the engine computes in and
    keeps its cache in stands here, and is never left to the engine.
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
    calibration: CalibrationFacts | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.context_length < 2:
            raise ValueError(f"context_length {self.context_length} leaves no room for a prompt and an answer")
        if not self.end_ids:
            raise ValueError("without end_ids an answer would never end by itself")


@dataclass(frozen=True)
class Manifest(Record):
    """The story of one release of one pipeline, as far as all families tell it.

    `format` is raised only where a reader of before would misunderstand; see `text_runtime.records`.
    """

    pipeline: str
    release: int
    task: str
    created_at: str
    trireme_version: str
    source: SourceFacts
    gates: tuple[GateRow, ...] = ()
    evaluation: EvaluationFacts | None = None
    files: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT
    family: str = ENCODER_FAMILY

    @property
    def network(self) -> NetworkFacts:
        """What runs the network."""
        raise NotImplementedError

    @property
    def longest(self) -> int:
        """The most tokens that it takes, special ones included; of a model that writes, with its answer."""
        raise NotImplementedError

    def to_json(self) -> bytes:
        """The manifest as indented JSON, with the fields that this version does not know as they were read."""
        return msgspec.json.format(msgspec.json.encode(fields_of(self)), indent=2) + b"\n"


@dataclass(frozen=True)
class EncoderManifest(Manifest):
    """The whole story of a release of the encoder family."""

    width: int = field(kw_only=True)
    tokenizer: TokenizerFacts = field(kw_only=True)
    encoder: EncoderFacts = field(kw_only=True)

    @property
    def network(self) -> EncoderFacts:
        """See the base class."""
        return self.encoder

    @property
    def longest(self) -> int:
        """See the base class."""
        return self.tokenizer.max_length


@dataclass(frozen=True)
class GenerationManifest(Manifest):
    """The whole story of a release of the generation family."""

    generator: GeneratorFacts = field(kw_only=True)

    @property
    def network(self) -> GeneratorFacts:
        """See the base class."""
        return self.generator

    @property
    def longest(self) -> int:
        """See the base class."""
        return self.generator.context_length


_KINDS: dict[str, type[Manifest]] = {ENCODER_FAMILY: EncoderManifest, GENERATION_FAMILY: GenerationManifest}


def read_manifest(folder: Path) -> Manifest:
    """Read `manifest.json` in a release's folder.

    Raises:
        FileNotFoundError: the folder has none.
        FormatError: a newer Trireme wrote it.
        ValueError: it is not a manifest.
    """
    return parse_manifest((folder / FILE_NAME).read_bytes(), str(folder / FILE_NAME))


def read_encoder_manifest(folder: Path) -> EncoderManifest:
    """Read the manifest in a folder of a release of the encoder family.

    Raises:
        FileNotFoundError: the folder has none.
        FormatError: a newer Trireme wrote it.
        ValueError: it is not a manifest, or one of another family.
    """
    found = read_manifest(folder)
    if not isinstance(found, EncoderManifest):
        raise ValueError(f"{folder / FILE_NAME} tells of a release of the {found.family} family")
    return found


def parse_manifest(content: bytes, origin: str) -> Manifest:
    """Parse a manifest; `origin` names it in errors.

    Raises:
        FormatError: a newer Trireme wrote it.
        ValueError: the content is not a manifest.
    """
    try:
        found = msgspec.json.decode(content)
        require_format(found, FORMAT, origin)
        family = found.get("family", ENCODER_FAMILY) if isinstance(found, dict) else ENCODER_FAMILY
        if family not in _KINDS:
            raise ValueError(f"its family {family!r} is unknown")
        return read_record(_KINDS[family], found)
    except FormatError:
        raise
    except ValueError as error:
        raise ValueError(f"{origin} is not a manifest: {error}") from error


def sha256_of(path: Path) -> str:
    """The file's SHA-256 in hexadecimal, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
