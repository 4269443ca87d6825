"""What the typed client does when an answer does not come: it keeps time, and asks again where that is safe."""

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest

from tests.serving.throwaway import NAME, write_pipeline
from tests.tasks.ways import WAYS, call, url_of
from trireme.client import AsyncClient, Client, Retries
from trireme.client.exchange import Call
from trireme.errors import TimedOutError, UnavailableError
from trireme.serving import Server, ServerSpec, start

PATIENT = Retries(attempts=200, first_wait_s=0.1, longest_wait_s=0.3)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A pipeline without a model; `sleep 1` as a text takes a second."""
    with start(ServerSpec(write_pipeline(tmp_path_factory.mktemp("client")), 0, 0, 0)) as running:
        yield running


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_time_out_is_kept_and_the_next_call_gets_its_own_answer(server: Server, protocol: str) -> None:
    with Client(url_of(server, protocol), NAME) as client:
        client.classify(["好"])
        began = time.monotonic()
        with pytest.raises(TimedOutError, match=r"'parrot' on .*: no answer within 0.3 s"):
            client.classify(["sleep 1"], timeout_s=0.3)
        assert time.monotonic() - began < 0.9
        assert len(client.classify(["好", "好"])) == 2


@pytest.mark.parametrize("way", ["http.aio", "grpc.aio"])
def test_a_time_out_is_kept_by_asyncio_too(server: Server, way: str) -> None:
    async def both() -> int:
        async with AsyncClient(url_of(server, way), NAME) as client:
            with pytest.raises(TimedOutError, match=r"no answer within 0.3 s"):
                await client.classify(["sleep 1"], timeout_s=0.3)
            return len(await client.classify(["好", "好"]))

    assert asyncio.run(both()) == 2


@pytest.fixture
def far_port(server: Server, request: pytest.FixtureRequest) -> Iterator[int]:
    """A port from which what the server sends arrives 0.3 s later, as over a long or a busy line."""
    near = server.http_url if request.param == "http" else server.grpc_url

    def relay(source: socket.socket, target: socket.socket, delay_s: float) -> None:
        with suppress(OSError):
            while received := source.recv(65536):
                time.sleep(delay_s)
                target.sendall(received)
            target.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                ours = listening.accept()[0]
                theirs = socket.create_connection(("127.0.0.1", int(near.rpartition(":")[2])))
                for source, target, delay_s in ((ours, theirs, 0), (theirs, ours, 0.3)):
                    threading.Thread(target=relay, args=(source, target, delay_s), daemon=True).start()

    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]


@pytest.mark.parametrize(
    ("far_port", "way"), [(way.partition(".")[0], way) for way in WAYS], indirect=["far_port"], ids=WAYS
)
def test_a_far_server_is_reached(far_port: int, way: str) -> None:
    scheme = way.partition(".")[0]
    assert len(call(f"{scheme}://127.0.0.1:{far_port}", way, NAME, "classify", ["好"])) == 1


def test_requests_in_flight_on_a_triton_that_dies_are_answered_by_the_one_that_comes_back(server: Server) -> None:
    def ask(way: str) -> int:
        return len(call(url_of(server, way), way, NAME, "classify", ["sleep 1"], retries=PATIENT))

    pid = server.pid
    with ThreadPoolExecutor(len(WAYS)) as pool:
        answers = [pool.submit(ask, way) for way in WAYS]
        time.sleep(0.5)
        os.kill(pid, signal.SIGKILL)
        assert [answer.result(60) for answer in answers] == [1, 1, 1, 1]
    assert server.pid != pid


def test_attempts_end_when_the_calls_time_would() -> None:
    began = time.monotonic()
    with Client("127.0.0.1:9", NAME, timeout_s=0.5, retries=PATIENT) as client, pytest.raises(UnavailableError):
        client.classify(["好"])
    assert time.monotonic() - began < 1.0


@pytest.mark.parametrize("attempts", [{"attempts": 0}, {"first_wait_s": 3.0}])
def test_retries_that_make_no_sense_are_refused(attempts: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="no attempt"):
        Retries(**attempts)  # type: ignore[arg-type]


def test_a_call_without_time_is_refused() -> None:
    with pytest.raises(ValueError, match="not positive"):
        Call("any", 0.0)
