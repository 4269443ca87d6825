"""One Triton that serves a model of every family and of every kind of source, exported once from small checkpoints."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from converters.export import ExportSpec, export
from tests.conftest import once
from tests.converters.checkpoints import write_checkpoint, write_static
from trireme.serving import Server, ServerSpec, start

PDMODEL = Path(__file__).parents[1] / "testdata" / "pdmodel"


@dataclass(frozen=True)
class Served:
    """A pipeline, the architecture behind it, and what writes its checkpoint."""

    architecture: str
    write: Callable[[Path, str], Path]
    kind: str


def _classes(prefix: str, write: Callable[[Path, str], Path], kind: str) -> Served:
    return Served(f"{prefix}ForSequenceClassification", write, kind)


PIPELINES = {
    "bert": _classes("Bert", write_checkpoint, "paddlenlp"),
    "ernie": _classes("Ernie", write_checkpoint, "paddlenlp"),
    "ernie-m": _classes("ErnieM", write_checkpoint, "paddlenlp"),
    "roberta": _classes("Roberta", write_checkpoint, "paddlenlp"),
    "albert": _classes("Albert", write_checkpoint, "paddlenlp"),
    "electra": _classes("Electra", write_checkpoint, "paddlenlp"),
    "xlm-roberta": _classes("XLMRoberta", write_checkpoint, "paddlenlp"),
    "static": _classes("Ernie", write_static, "static"),
}


@pytest.fixture(scope="session")
def sources(shared_folder: Path) -> dict[str, Path]:
    """The checkpoint behind each of `PIPELINES`."""

    def make(folder: Path) -> None:
        for name, case in PIPELINES.items():
            case.write(folder / name, case.architecture)

    folder = once(shared_folder / "family-checkpoints", make)
    return {name: folder / name for name in PIPELINES}


@pytest.fixture(scope="session")
def families_repository(shared_folder: Path, sources: dict[str, Path]) -> Path:
    """A model repository with every pipeline of `PIPELINES`, and `pdmodel`. Never change it."""

    def make(folder: Path) -> None:
        for name, checkpoint in (sources | {"pdmodel": PDMODEL}).items():
            export(ExportSpec(checkpoint, "text-classification", name, folder))

    return once(shared_folder / "family-repository", make)


@pytest.fixture(scope="session")
def families_server(families_repository: Path) -> Iterator[Server]:
    """A Triton that serves them all."""
    with start(ServerSpec(families_repository, 0, 0, 0)) as server:
        yield server
