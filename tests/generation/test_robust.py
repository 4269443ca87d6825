"""What harms one answer, or the engine itself, harms no other answer: against the real Triton."""

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import psutil
import pytest
from tritonclient.grpc import service_pb2_grpc

from tests.waiting import until
from trireme.admin import scrape
from trireme.machine.channels import OWN_CHANNEL
from trireme.machine.grpc_streams import StreamError, stream_request, stream_results
from trireme.serving import Server, ServerSpec, start

pytestmark = [pytest.mark.xdist_group("generation-robust")]

GOOD_SCHEMA = '{"type": "object", "properties": {"a": {"enum": ["yes", "no"]}}, "required": ["a"]}'
BAD_SCHEMA = '{"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}, "required": ["a"]}'


@pytest.fixture(scope="module")
def writer(writer_repository: Path) -> Iterator[Server]:
    """The pipeline on a Triton of its own."""
    with start(ServerSpec(writer_repository, http_port=0, grpc_port=0, metrics_port=0)) as server:
        yield server


def ask(server: Server, text: str, tokens: int, schema: str = "", **sampling: object) -> str:
    """The whole answer to a text, as a stream gives it."""
    terms = {"max_tokens": tokens, "temperature": 0, **sampling}
    inputs: dict[str, str | bool] = {"text_input": text, "stream": True, "sampling_parameters": json.dumps(terms)}
    request = stream_request("writer", inputs | ({"response_format": schema} if schema else {}))
    answers = stream_results(server.grpc_url, request, 60)
    return "".join(
        answer.as_numpy("text_output").item().decode()
        for answer in answers
        if answer.as_numpy("text_output") is not None and answer.as_numpy("text_output").size
    )


def metric(server: Server, name: str, **labels: str) -> float:
    """The sum of a metric's values."""
    samples = (sample for sample in scrape(server.metrics_url) if sample.name == name)
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


def engines(server: Server) -> list[psutil.Process]:
    """The engines' processes of a server."""
    found = []
    for process in psutil.Process(server.pid).children(recursive=True):
        try:
            if "text_runtime.generation.worker" in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_a_schema_that_cannot_be_compiled_is_refused_and_harms_no_neighbour(writer: Server) -> None:
    with ThreadPoolExecutor(4) as pool:
        neighbours = [pool.submit(ask, writer, f"The number {index} is", 80, ignore_eos=True) for index in range(4)]
        with pytest.raises(StreamError, match="JSON schema cannot be obeyed"):
            ask(writer, "Give a number:", 8, BAD_SCHEMA)
        assert all(neighbour.result() for neighbour in neighbours)
    with pytest.raises(StreamError, match="JSON schema cannot be obeyed"):  # by the verdict that is remembered
        ask(writer, "Give a number:", 8, BAD_SCHEMA)


def test_a_schema_that_can_be_compiled_is_obeyed(writer: Server) -> None:
    assert json.loads(ask(writer, "Yes or no?", 40, GOOD_SCHEMA))["a"] in ("yes", "no")


def test_a_huge_schema_is_refused(writer: Server) -> None:
    with pytest.raises(StreamError, match="bytes"):
        ask(writer, "Give a number:", 8, json.dumps({"type": "object", "title": "a" * 70_000}))


def cancel_at_random(server: Server, number: int) -> None:
    """Ask for a long answer and go away at a moment by chance."""
    inputs: dict[str, str | bool] = {
        "text_input": "word " * random.choice((1, 50, 600)),
        "stream": True,
        "sampling_parameters": json.dumps({"max_tokens": 400, "ignore_eos": True, "seed": number}),
    }
    with grpc.insecure_channel(server.grpc_url, options=OWN_CHANNEL) as channel:
        call = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelStreamInfer(
            iter([stream_request("writer", inputs)]), timeout=60
        )
        time.sleep(random.random() ** 2)
        call.cancel()


def cancel_many(server: Server, count: int) -> None:
    """Cancel answers under load; nothing of them may be left."""
    with ThreadPoolExecutor(24) as pool:
        list(pool.map(lambda number: cancel_at_random(server, number), range(count)))
    names = ("running", "waiting", "cache_usage_ratio")
    until(lambda: not any(metric(server, f"trireme_generation_{name}") for name in names), 60)
    until(lambda: not metric(server, "nv_inference_pending_request_count"), 30)
    assert ask(server, "The capital of France is", 5)


def test_cancels_at_random_moments_leave_nothing_behind(writer: Server) -> None:
    cancel_many(writer, 300)
    assert metric(writer, "trireme_generation_requests_total", reason="cancelled")


@pytest.mark.drill
@pytest.mark.timeout(1800)
def test_ten_thousand_cancels_leave_nothing_behind(writer: Server) -> None:
    cancel_many(writer, 10_000)


def test_a_deadline_frees_its_sequence_within_a_second(writer: Server) -> None:
    terms = json.dumps({"max_tokens": 2000, "ignore_eos": True})
    inputs: dict[str, str | bool] = {"text_input": "Once", "stream": True, "sampling_parameters": terms}
    begun = time.monotonic()
    with pytest.raises(StreamError):
        stream_results(writer.grpc_url, stream_request("writer", inputs, parameters={"timeout": 500_000}), 30)
    assert time.monotonic() - begun < 2
    until(lambda: not metric(writer, "trireme_generation_running"), 2)


def test_streams_of_a_killed_engine_fail_at_once_and_the_next_request_is_answered(writer: Server) -> None:
    until(lambda: bool(engines(writer)), 5)
    with ThreadPoolExecutor(4) as pool:
        streams = [pool.submit(ask, writer, "Once", 1500, ignore_eos=True) for _ in range(4)]
        until(lambda: metric(writer, "trireme_generation_running") > 0, 10)
        killed_at = time.monotonic()
        for engine in engines(writer):
            os.kill(engine.pid, signal.SIGKILL)
        for stream in streams:
            with pytest.raises(StreamError, match="engine ended"):
                stream.result()
    assert time.monotonic() - killed_at < 15  # at once where nothing else runs
    until(lambda: is_answered(writer), 60)  # 4 s where nothing else runs


def test_a_killed_step_leaves_no_engine_behind_and_comes_back(writer: Server) -> None:
    until(lambda: is_answered(writer), 90)
    before = engines(writer)
    assert before
    for stub in {engine.ppid() for engine in before}:
        os.kill(stub, signal.SIGKILL)
    until(lambda: not any(engine.is_running() and engine.status() != "zombie" for engine in before), 5)
    until(lambda: is_answered(writer), 90)  # 6 to 12 s where nothing else runs


def is_answered(server: Server) -> bool:
    """Whether a request is answered just now."""
    try:
        return bool(ask(server, "The capital of France is", 5))
    except (StreamError, grpc.RpcError):
        return False
