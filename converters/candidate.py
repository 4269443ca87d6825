"""A candidate for publication, as gates and golden requests look at it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from converters.sources import SourceModel
from text_runtime.manifest import EncoderManifest
from trireme.contract.pipelines import Step


@dataclass(frozen=True)
class Candidate:
    """The source, the fp32 graph, and the release as it would be published; `corpus` holds texts to compare on."""

    source: SourceModel
    graph: Path
    folders: dict[Step, Path]
    manifest: EncoderManifest
    corpus: Sequence[str]
