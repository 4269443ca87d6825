"""The batching of target gpu on the real Triton: its own batcher, in front of a stand-in for the plan.

The stand-in takes exactly what a plan takes, and fails where Triton merges rows of unequal length.
"""

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from loadtest.bench import generator
from loadtest.bench.target import triton_target
from loadtest.bench.triton_statistics import facts_between, read_counts
from tests.serving.stand_in import put_in_place_of_the_plan
from trireme.client import Client
from trireme.serving import Server, ServerSpec, start

CONCURRENCY = 64
SECONDS = 4.0


@pytest.fixture(scope="module")
def bucketed(gpu_repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Triton that serves the pipeline of target gpu without a GPU."""
    root = tmp_path_factory.mktemp("bucketed") / "models"
    shutil.copytree(gpu_repository, root)
    put_in_place_of_the_plan(root, "sentiment")
    with start(ServerSpec(root, 0, 0, 0)) as server:
        yield server


def scores_of(server: Server, texts: list[str], rows: int) -> npt.NDArray[np.float64]:
    """Scores of all texts, from sixteen clients at once, in requests of so many rows."""
    pieces = [texts[start : start + rows] for start in range(0, len(texts), rows)]
    with ThreadPoolExecutor(16) as pool, Client(f"grpc://{server.grpc_url}", "sentiment") as client:
        return np.array([answer.scores for answers in pool.map(client.classify, pieces) for answer in answers])


@pytest.mark.parametrize("rows", [1, 7, 64])
def test_answers_equal_those_of_the_ragged_pipeline_and_of_paddlenlp(
    bucketed: Server, served: Server, reviews: list[str], source_scores: npt.NDArray[np.float32], rows: int
) -> None:
    found = scores_of(bucketed, reviews, rows)
    assert np.abs(found - scores_of(served, reviews, rows)).max() < 1e-4
    assert np.abs(found - source_scores).max() < 1e-4


def test_a_bad_request_fails_alone_among_answers_that_are_put_in_order(bucketed: Server, reviews: list[str]) -> None:
    import tritonclient.grpc as triton_grpc
    from tritonclient.utils import InferenceServerException

    def ask(value: bytes) -> str:
        tensor = triton_grpc.InferInput("text", [1, 1], "BYTES")
        tensor.set_data_from_numpy(np.array([[value]], dtype=np.object_))
        with triton_grpc.InferenceServerClient(bucketed.grpc_url) as client:
            try:
                client.infer("sentiment", [tensor])
            except InferenceServerException as error:
                return str(error)
        return ""

    with ThreadPoolExecutor(16) as pool:
        values = [*(text.encode() for text in reviews[:30]), b"\xff", *(text.encode() for text in reviews[30:60])]
        problems = [problem for problem in pool.map(ask, values) if problem]
    assert len(problems) == 1
    assert "not valid UTF-8" in problems[0]


def test_neighbours_in_the_queue_share_a_bucket_so_that_triton_merges_them(
    bucketed: Server, reviews: list[str]
) -> None:
    """In the order of arrival the mean batch is 1.4; the padding is that of four buckets that double."""
    target = triton_target("sentiment", bucketed)
    requests = target.requests(reviews)
    generator.run(target.url, requests, CONCURRENCY, 1.0)
    before = read_counts(target)
    sample = generator.run(target.url, requests, CONCURRENCY, SECONDS)
    time.sleep(0.5)
    facts, padding = facts_between(before, read_counts(target))
    print(f"mean batch {facts['encoder'].mean_batch:.2f}, padding {padding:.1%}")  # noqa: T201
    assert not sample.failures, sample.first_failure
    assert facts["encoder"].mean_batch > 2.0
    assert 0.1 < padding < 0.4
