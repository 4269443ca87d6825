"""A release that is exported to be reproducible draws the same text for a seed, whatever else its engine does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from converters.generation.served import ServedEngine
from text_runtime.generation.engines.base import CHUNK_TOKENS
from text_runtime.generation.files import TOKENIZER_NAME
from text_runtime.generation.sampling import SamplingParameters
from text_runtime.generation.worker import Order
from text_runtime.generation.worker_process import WorkerProcess, WorkerSpec
from trireme.contract.repository import Repository

pytestmark = pytest.mark.xdist_group("generation")
REPRODUCIBLE = 2
BLOCK_TOKENS = 32
"""What the engine's prefix cache keeps together: of a prompt that ends with a block, one token is computed again."""
SEEDED = SamplingParameters(max_tokens=10, seed=7)
TEXT = "The capital of France is Paris, and the capital of Uruguay is Montevideo. " * 30


@pytest.fixture(scope="module")
def folder(writer_repository: Path) -> Path:
    """The generator's files."""
    return Repository(writer_repository).release_folders("writer", REPRODUCIBLE)["generator"]


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[ServedEngine]:
    """The engine, loaded once."""
    worker = WorkerProcess(WorkerSpec(Order(str(folder), 2, 1, 16), "openvino-genai"))
    yield ServedEngine(worker)
    worker.close()


@pytest.fixture(scope="module")
def ids(folder: Path) -> list[int]:
    """A long prompt, to be cut to length."""
    found: list[int] = Tokenizer.from_file(str(folder / TOKENIZER_NAME)).encode(TEXT).ids
    return found


@pytest.mark.parametrize("length", [5, BLOCK_TOKENS, BLOCK_TOKENS + 1, 2 * BLOCK_TOKENS, CHUNK_TOKENS + 20])
def test_a_seed_draws_the_same_again_in_any_company(engine: ServedEngine, ids: list[int], length: int) -> None:
    asked = (ids[-length:], SEEDED)
    (first,) = engine.write([asked])
    engine.write([(ids[-length:], SamplingParameters(max_tokens=1, temperature=0))])
    after_one_token = engine.write([asked])
    others = [(ids[place : place + 7 * place + 1], SamplingParameters(max_tokens=20)) for place in range(6)]
    in_company = engine.write([*others[:3], asked, *others[3:]])[3]
    assert [*after_one_token, in_company, *engine.write([asked, asked])] == [first] * 4
