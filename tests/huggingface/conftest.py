"""What needs Hugging Face's own library: `make test-huggingface` makes its environment and names it."""

import shutil
from pathlib import Path

import pytest

from converters.sources import SourceOptions
from tests.conftest import once
from tests.huggingface.checkpoints import write_hugging_face

NAME = "BertForSequenceClassification"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests beside this file need the library."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("huggingface")


@pytest.fixture(scope="session")
def options(python: Path) -> SourceOptions:
    """What names it."""
    return SourceOptions(python=python)


@pytest.fixture(scope="session")
def original(shared_folder: Path) -> Path:
    """A BERT in Hugging Face's layout. Never change it."""

    def make(folder: Path) -> None:
        write_hugging_face(folder, NAME)

    return once(shared_folder / "huggingface-original", make)


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return shutil.copytree(original, tmp_path / "bert")
