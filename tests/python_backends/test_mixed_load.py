"""Requests of any size and fate, sent together: each gets one outcome, and an answer is that of a batch of one."""

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tritonclient.grpc as triton_grpc
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.python_backends.counting import FLUSHED_S, counter
from tests.tasks.ways import url_of
from tests.waiting import until
from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.manifest import read_manifest
from trireme.client import Client
from trireme.contract.repository import Repository
from trireme.errors import TimedOutError
from trireme.serving import Server

TOLERANCE = 1e-4
WAIT_S = 60
EXPIRES_US = 1
LONG = 65
"""A text that fills the model's longest window and no more: long to encode, short to tokenize."""


@dataclass(frozen=True)
class Plan:
    """One request: which texts it asks for, and what becomes of it."""

    texts: tuple[int, ...]
    fate: str


@dataclass
class Outcome:
    """What came back: every call of the callback."""

    results: list[Any] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)

    def __call__(self, result: Any, error: Any) -> None:
        self.results.append(error or result)
        self.arrived.set()


@pytest.fixture(scope="module")
def texts(reviews: list[str]) -> list[str]:
    """Texts from none to far more characters than the model reads."""
    return ["", " ", "好", *reviews[:60], "".join(reviews[:20]), "很好" * 5000, "".join(reviews)[:130]]


@pytest.fixture(scope="module")
def alone(repository: Path, texts: list[str]) -> npt.NDArray[np.float32]:
    """The scores of every text in a batch of one, in this process: FP32 [texts, 2]."""
    folders = Repository(repository).release_folders("sentiment", 1)
    pipeline = LocalPipeline(folders, read_manifest(folders["encoder"]))
    return np.concatenate([pipeline([{"text": text_tensor([text])}])[0]["scores"] for text in texts])


@pytest.fixture(scope="module")
def client(served: Server) -> Any:
    """A gRPC client, which can cancel."""
    with triton_grpc.InferenceServerClient(served.grpc_url) as client:
        yield client


fates = st.sampled_from(["answered"] * 4 + ["cancelled", "expired"])
plans = st.builds(Plan, st.lists(st.integers(0, 64), min_size=1, max_size=12).map(tuple), fates)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mix=st.lists(plans, min_size=1, max_size=48))
def test_every_request_of_a_mix_has_one_outcome_and_no_answer_is_anothers(
    client: Any, texts: list[str], alone: npt.NDArray[np.float32], mix: list[Plan]
) -> None:
    outcomes = [send(client, plan, texts) for plan in mix]
    for plan, outcome in zip(mix, outcomes, strict=True):
        assert outcome.arrived.wait(WAIT_S), f"a request was lost: {plan}"
        (result,) = outcome.results
        if isinstance(result, triton_grpc.InferResult):
            scores = result.as_numpy("scores")
            np.testing.assert_allclose(scores, alone[list(plan.texts)], atol=TOLERANCE)
        else:
            assert plan.fate != "answered", result


def test_a_request_whose_time_is_over_is_refused_by_the_encoder(client: Any, texts: list[str]) -> None:
    late = send(client, Plan((3,), "expired"), texts)
    assert late.arrived.wait(WAIT_S)
    assert "Request timeout expired" in str(late.results[0])


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_what_the_typed_client_waits_for_no_longer_is_not_encoded(
    served: Server, client: Any, texts: list[str], protocol: str
) -> None:
    before = encoded_rows(served)
    with Client(url_of(served, protocol), "sentiment") as typed:
        waiting = [send(client, Plan((LONG,) * 64, "answered"), texts) for _ in range(16)]
        until(lambda: requests_in_queue(served) > 8, WAIT_S)
        with pytest.raises(TimedOutError):
            typed.classify(["好"] * 64, timeout_s=0.1)
        assert all(outcome.arrived.wait(WAIT_S) for outcome in waiting)
        typed.classify(["好"])  # passes the encoder's queue after the late one
    assert all(isinstance(outcome.results[0], triton_grpc.InferResult) for outcome in waiting)
    assert 16 * 64 <= encoded_rows(served) - before < 17 * 64


def encoded_rows(served: Server) -> float:
    """Rows that the encoder has encoded; supervision asks for one every other second."""
    time.sleep(FLUSHED_S)
    return counter(served, "trireme_encoder_rows_total", pipeline="sentiment")


def requests_in_queue(served: Server) -> float:
    """Requests that wait for the encoder."""
    return counter(served, "nv_inference_pending_request_count", model="sentiment_encoder")


def send(client: Any, plan: Plan, texts: list[str]) -> Outcome:
    """Send one request without waiting, and let its fate begin."""
    tensor = triton_grpc.InferInput("text", [len(plan.texts), 1], "BYTES")
    tensor.set_data_from_numpy(text_tensor([texts[index] for index in plan.texts]))
    outcome = Outcome()
    timeout_us = EXPIRES_US if plan.fate == "expired" else None
    call = client.async_infer("sentiment", [tensor], outcome, timeout=timeout_us)
    if plan.fate == "cancelled":
        call.cancel()
    return outcome
