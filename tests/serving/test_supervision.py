"""What dies comes back by itself; only requests in flight on it fail, and none hangs."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
import tritonclient.grpc as triton_grpc
from tritonclient.utils import InferenceServerException

from tests.serving.throwaway import BROKEN_MODEL, ask, regions_of, seconds_until_answered, write_pipeline
from trireme.errors import ServerError
from trireme.serving import Server, ServerSpec, start
from trireme.serving.process import is_stub, model_of, stubs_of


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Two throwaway pipelines, one with two instances of each step. Every test leaves it whole."""
    root = write_pipeline(tmp_path_factory.mktemp("supervised"))
    write_pipeline(root, name="twins", instances=2)
    with start(ServerSpec(root, 0, 0, 0)) as running:
        yield running


def stubs_by_model(server: Server, model: str) -> list[psutil.Process]:
    """A model's living stubs."""
    return [stub for stub in stubs_of(server.pid) if model_of(stub) == model]


def wait_until_whole(server: Server, model: str, instances: int = 1, within_s: float = 10.0) -> None:
    """Wait until the supervisor has nothing left to do, and a model has exactly its stubs."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if len(stubs_by_model(server, model)) == instances and not server._supervisor._suspects:
            return
        time.sleep(0.05)
    raise AssertionError(f"'{model}' has {len(stubs_by_model(server, model))} stubs")


@pytest.mark.parametrize("step", ["tokenizer", "encoder", "postprocess"])
def test_a_killed_step_answers_again_within_five_seconds(server: Server, step: str) -> None:
    (stub,) = stubs_by_model(server, f"parrot_{step}")
    pid = server.pid
    stub.kill()
    assert seconds_until_answered(server.grpc_url, within_s=5) < 5
    wait_until_whole(server, f"parrot_{step}")
    assert server.pid == pid


def test_the_real_encoder_answers_again_each_time_that_it_dies(served: Server) -> None:
    for _ in range(2):
        (stub,) = stubs_by_model(served, "sentiment_encoder")
        stub.kill()
        assert seconds_until_answered(served.grpc_url, within_s=5, name="sentiment") < 5
        wait_until_whole(served, "sentiment_encoder")


def test_a_request_on_a_killed_step_fails_and_does_not_hang(server: Server) -> None:
    with ThreadPoolExecutor(1) as pool:
        in_flight = pool.submit(ask, server.grpc_url, "sleep 60", timeout_s=60)
        time.sleep(0.5)
        begin = time.monotonic()
        (stub,) = stubs_by_model(server, "parrot_tokenizer")
        stub.kill()
        with pytest.raises(InferenceServerException, match="not healthy"):
            in_flight.result()
        assert time.monotonic() - begin < 5
    assert seconds_until_answered(server.grpc_url, within_s=5) < 5
    wait_until_whole(server, "parrot_tokenizer")


@pytest.mark.parametrize("step", ["tokenizer", "encoder", "postprocess"])
def test_a_frozen_step_is_noticed_and_answers_again(server: Server, step: str) -> None:
    others = [stub for stub in stubs_of(server.pid) if model_of(stub) != f"parrot_{step}"]
    (frozen,) = stubs_by_model(server, f"parrot_{step}")
    frozen.suspend()
    assert seconds_until_answered(server.grpc_url, within_s=30) < 30
    wait_until_whole(server, f"parrot_{step}")
    assert not is_stub(frozen)
    assert all(is_stub(stub) for stub in others)


def test_the_real_encoder_frozen_is_noticed_and_answers_again(served: Server) -> None:
    (frozen,) = stubs_by_model(served, "sentiment_encoder")
    frozen.suspend()
    assert seconds_until_answered(served.grpc_url, within_s=30, name="sentiment") < 30
    wait_until_whole(served, "sentiment_encoder")


def test_a_step_that_is_only_busy_is_left_alone(server: Server) -> None:
    before = {stub.pid for stub in stubs_of(server.pid)}
    ask(server.grpc_url, "compute 9")
    assert {stub.pid for stub in stubs_of(server.pid)} == before


def test_other_pipelines_go_on_answering_while_a_step_comes_back(server: Server) -> None:
    (stub,) = stubs_by_model(server, "parrot_encoder")
    stub.kill()
    slowest, end = 0.0, time.monotonic() + 3
    while (begin := time.monotonic()) < end:
        ask(server.grpc_url, name="twins")
        slowest = max(slowest, time.monotonic() - begin)
    assert slowest < 1
    wait_until_whole(server, "parrot_encoder")
    ask(server.grpc_url)


def test_a_step_that_dies_while_another_comes_back_comes_back_too(server: Server) -> None:
    for pause_s in (0.0, 0.15, 0.3, 0.45):
        for step in ("tokenizer", "encoder", "postprocess"):
            for stub in stubs_by_model(server, f"parrot_{step}"):
                stub.kill()
            time.sleep(pause_s)
        assert seconds_until_answered(server.grpc_url, within_s=15) < 15
        for step in ("tokenizer", "encoder", "postprocess"):
            wait_until_whole(server, f"parrot_{step}")
        server._supervisor._backoff._tries.clear()


def test_all_instances_are_replaced_when_one_died_and_none_of_the_old_stays(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trireme.serving.wheel_launch.WheelLaunch.drain_timeout_s", 1)
    old = stubs_by_model(server, "twins_encoder")
    old[0].kill()
    with ThreadPoolExecutor(4) as pool:  # some of these die with the stub, and the old instances would stay for them
        answers = [pool.submit(ask, server.grpc_url, name="twins") for _ in range(8)]
    assert all(isinstance(answer.exception(), (InferenceServerException, type(None))) for answer in answers)
    assert seconds_until_answered(server.grpc_url, within_s=5, name="twins") < 5
    wait_until_whole(server, "twins_encoder", instances=2)
    assert not any(is_stub(stub) for stub in old)


def test_a_model_unloaded_on_purpose_stays_unloaded(server: Server) -> None:
    with triton_grpc.InferenceServerClient(server.grpc_url) as client:
        for model in ("twins", "twins_tokenizer", "twins_encoder", "twins_postprocess"):
            client.unload_model(model, headers=server.control_headers)
        wait_until_whole(server, "twins_encoder", instances=0)
        time.sleep(1)
        assert not stubs_by_model(server, "twins_encoder")
        client.load_model("twins", headers=server.control_headers)
    ask(server.grpc_url, name="twins")
    wait_until_whole(server, "twins_encoder", instances=2)


def test_after_a_step_came_back_a_plain_load_takes_its_config_from_disk_again(server: Server) -> None:
    (stub,) = stubs_by_model(server, "parrot_postprocess")
    stub.kill()
    seconds_until_answered(server.grpc_url, within_s=5)
    wait_until_whole(server, "parrot_postprocess")
    folder = server._launch.spec.repository / "parrot_postprocess"
    shutil.copytree(folder / "1", folder / "2")
    config = folder / "config.pbtxt"
    config.write_text(config.read_text().replace("versions: 1", "versions: 1 versions: 2"))
    with triton_grpc.InferenceServerClient(server.grpc_url) as client:
        client.load_model("parrot_postprocess", headers=server.control_headers)
        assert client.is_model_ready("parrot_postprocess", "1")
        assert client.is_model_ready("parrot_postprocess", "2")


def test_a_step_that_cannot_be_loaded_again_takes_no_other_pipeline_down(server: Server) -> None:
    model = server._launch.spec.repository / "parrot_encoder" / "1" / "model.py"
    honest = model.read_text()
    (stub,) = stubs_by_model(server, "parrot_encoder")
    pid = server.pid
    model.write_text(BROKEN_MODEL)
    try:
        stub.kill()
        time.sleep(1.5)
        ask(server.grpc_url, name="twins")
    finally:
        model.write_text(honest)
    assert seconds_until_answered(server.grpc_url, within_s=20) < 20
    wait_until_whole(server, "parrot_encoder")
    assert server.pid == pid


def test_triton_and_all_its_stubs_killed_at_once_come_back_and_leave_no_shared_memory(server: Server) -> None:
    server._supervisor._backoff._tries.clear()
    family = [psutil.Process(server.pid), *stubs_of(server.pid)]
    before = regions_of(server._launch.folder)
    for process in family:
        process.kill()
    time.sleep(0.5)
    assert seconds_until_answered(server.grpc_url, within_s=15) < 15
    assert not before & regions_of(server._launch.folder)


def test_the_orphans_of_a_killed_triton_are_killed_before_it_comes_back(server: Server) -> None:
    orphans = stubs_of(server.pid)
    for orphan in orphans:  # frozen, it cannot see that its Triton died
        orphan.suspend()
    os.kill(server.pid, signal.SIGKILL)
    time.sleep(0.5)
    assert seconds_until_answered(server.grpc_url, within_s=15) < 15
    assert not any(is_stub(orphan) for orphan in orphans)


def test_a_triton_that_does_not_come_back_ends_the_waiting_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trireme.serving.supervision._FAILED_STARTS_MAX", 2)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    root = write_pipeline(tmp_path)
    try:
        with start(ServerSpec(root, 0, 0, 0)) as server:
            (root / "parrot_encoder" / "1" / "model.py").write_text(BROKEN_MODEL)
            os.kill(server.pid, signal.SIGKILL)
            with pytest.raises(ServerError, match="the labels are gone"):
                server.wait()
            folder = server._launch.folder
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert not regions_of(folder)
    assert not folder.exists()
