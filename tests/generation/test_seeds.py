"""A release that is exported to be reproducible draws the same text for a seed, whatever else its engine does."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from text_runtime.generation.engines.base import CHUNK_TOKENS
from text_runtime.generation.files import TOKENIZER_NAME
from text_runtime.generation.messages import Start, Step
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


class Engine:
    """The release's engine process, asked for several sequences at once."""

    def __init__(self, worker: WorkerProcess) -> None:
        self._worker = worker
        self._reports = worker.reports()
        self._numbers = count()

    def write(self, asked: list[tuple[list[int], SamplingParameters]]) -> list[list[int]]:
        """The token ids that each prompt is answered with."""
        numbers = [next(self._numbers) for _ in asked]
        for number, (ids, sampling) in zip(numbers, asked, strict=True):
            self._worker.send(Start(number, ids, sampling))
        answers: dict[int, list[int]] = {number: [] for number in numbers}
        under_way = set(numbers)
        while under_way:
            report = next(self._reports)
            assert isinstance(report, Step)
            for tokens in report.tokens:
                answers[tokens.sequence] += tokens.ids
                if tokens.finish_reason:
                    under_way.remove(tokens.sequence)
        return [answers[number] for number in numbers]


@pytest.fixture(scope="module")
def folder(writer_repository: Path) -> Path:
    """The generator's files."""
    return Repository(writer_repository).release_folders("writer", REPRODUCIBLE)["generator"]


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Engine]:
    """The engine, loaded once."""
    worker = WorkerProcess(WorkerSpec(Order(str(folder), 2, 1, 16), "openvino-genai"))
    yield Engine(worker)
    worker.close()


@pytest.fixture(scope="module")
def ids(folder: Path) -> list[int]:
    """A long prompt, to be cut to length."""
    found: list[int] = Tokenizer.from_file(str(folder / TOKENIZER_NAME)).encode(TEXT).ids
    return found


@pytest.mark.parametrize("length", [5, BLOCK_TOKENS, BLOCK_TOKENS + 1, 2 * BLOCK_TOKENS, CHUNK_TOKENS + 20])
def test_a_seed_draws_the_same_again_in_any_company(engine: Engine, ids: list[int], length: int) -> None:
    asked = (ids[-length:], SEEDED)
    (first,) = engine.write([asked])
    engine.write([(ids[-length:], SamplingParameters(max_tokens=1, temperature=0))])
    after_one_token = engine.write([asked])
    others = [(ids[place : place + 7 * place + 1], SamplingParameters(max_tokens=20)) for place in range(6)]
    in_company = engine.write([*others[:3], asked, *others[3:]])[3]
    assert [*after_one_token, in_company, *engine.write([asked, asked])] == [first] * 4
