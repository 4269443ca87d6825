"""A release's manifest: where it came from, how it was made, how it scored, and the hash of every file.

The same `manifest.json` stands in the release's folder of every step, so each step knows the whole release. Steps read
their own settings from it; nobody else writes any.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from text_runtime.facts import EncoderFacts, GeneratorFacts, NetworkFacts, SourceFacts, TokenizerFacts
from text_runtime.records import FormatError, Record, fields_of, read_record, require_format

FILE_NAME = "manifest.json"
FORMAT = 1
ENCODER_FAMILY = "encoder"
"""The family of every pipeline whose files name none: there was no other when they were written."""
GENERATION_FAMILY = "generation"


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
