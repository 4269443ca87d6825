"""A pipeline whose steps are joined in one model, on the real Triton."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
import tritonclient.grpc as triton_grpc
from msgspec.structs import replace
from tritonclient.utils import InferenceServerException

from converters.export import EncoderSpec, ExportSpec, export
from tests.python_backends.counting import FLUSHED_S, counter
from tests.serving.throwaway import seconds_until_answered
from trireme.client import Client
from trireme.contract.integrity import verify_release
from trireme.contract.repository import Repository
from trireme.errors import ContractError, UnsupportedError
from trireme.serving import Server, ServerSpec, start
from trireme.serving.check import check_repository
from trireme.serving.process import model_of, stubs_of

CHECKPOINT = Path(__file__).parents[2] / "examples/sentiment/checkpoint"
WITHIN_S = 5.0


def joined(folder: Path, instances: int = 2) -> ExportSpec:
    """What exports the demo's checkpoint with its steps joined."""
    return ExportSpec(CHECKPOINT, "text-classification", "sentiment", folder, instances=instances)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One joined release."""
    folder = tmp_path_factory.mktemp("joined") / "model_repository"
    export(joined(folder))
    return folder


@pytest.fixture(scope="module")
def server(repository: Path) -> Iterator[Server]:
    """A Triton that serves it."""
    with start(ServerSpec(repository, 0, 0, 0)) as running:
        yield running


def test_a_bad_row_fails_its_own_request_and_no_neighbour(server: Server) -> None:
    def send(rows: list[bytes]) -> tuple[list[object], bool]:
        tensor = triton_grpc.InferInput("text", [len(rows), 1], "BYTES")
        tensor.set_data_from_numpy(np.array([[row] for row in rows], dtype=np.object_))
        outcome: list[object] = []
        client.async_infer("sentiment", [tensor], lambda result, error: outcome.append(error or result))
        return outcome, b"\xff" in rows

    with triton_grpc.InferenceServerClient(server.grpc_url) as client:
        sent = [send([b"good", b"\xff"] if number % 5 == 0 else ["好".encode()] * 3) for number in range(40)]
        while not all(outcome for outcome, _ in sent):
            pass
    for (result,), is_bad in sent:
        assert isinstance(result, InferenceServerException) == is_bad
        assert not is_bad or "input 'text', row 1" in str(result)


def test_rows_padding_and_labels_are_counted_as_for_separate_steps(server: Server, reviews: list[str]) -> None:
    names = ("trireme_encoder_rows_total", "trireme_encoder_tokens_total", "trireme_label_total")
    before = [counter(server, name, pipeline="sentiment", release="1") for name in names]
    with Client(server.http_url, "sentiment") as client:
        client.classify(reviews[:100])
    time.sleep(FLUSHED_S)
    rows, tokens, labels = (
        counter(server, name, pipeline="sentiment", release="1") - earlier
        for name, earlier in zip(names, before, strict=True)
    )
    assert rows >= 100
    assert labels >= 100
    assert tokens > 300


def test_an_instance_that_dies_is_brought_back(server: Server) -> None:
    stubs = [stub for stub in stubs_of(server.pid) if model_of(stub) == "sentiment_joined"]
    assert len(stubs) == 2
    os.kill(stubs[0].pid, signal.SIGKILL)
    assert seconds_until_answered(server.grpc_url, WITHIN_S, "sentiment") < WITHIN_S
    psutil.wait_procs(stubs, timeout=WITHIN_S)
    with Client(server.http_url, "sentiment") as client:
        assert len(client.classify(["好"] * 640)) == 640


def test_the_check_has_nothing_to_say(repository: Path) -> None:
    assert [finding for finding in check_repository(repository) if finding.status != "ok"] == []


def test_releases_of_a_pipeline_are_all_joined_or_all_separate(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="its steps are joined"):
        export(joined(repository, instances=0))
    assert Repository(repository).releases("sentiment") == [1]
    export(joined(tmp_path / "separate", instances=0))
    with pytest.raises(ContractError, match="its steps are separate"):
        export(joined(tmp_path / "separate"))
    assert not (tmp_path / "separate" / "sentiment_joined").exists()


def test_a_pipeline_whose_name_ends_in_joined_is_not_taken_for_a_step(tmp_path: Path) -> None:
    for name, instances in (("a", 0), ("a_joined", 0), ("b_joined", 2), ("b", 0)):
        export(replace(joined(tmp_path, instances), name=name))
    repository = Repository(tmp_path)
    assert repository.pipelines() == ["a", "a_joined", "b", "b_joined"]
    assert [len(repository.steps(name)) for name in repository.pipelines()] == [3, 3, 3, 1]
    for name in repository.pipelines():
        verify_release(repository, name, 1)
    with pytest.raises(ContractError, match="'a'"):
        export(replace(joined(tmp_path), name="a"))


def test_what_cannot_be_joined_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="--joined"):
        joined(tmp_path, instances=-1)
    with pytest.raises(UnsupportedError, match="joined"):
        ExportSpec(CHECKPOINT, "text-classification", "x", tmp_path, EncoderSpec("tensorrt", target="gpu"), instances=2)
