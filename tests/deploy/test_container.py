"""The launcher, its probes and the health check around a real Triton, over real HTTP and gRPC."""

import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from tritonclient import grpc, http
from tritonclient.utils import InferenceServerException

from tests.deploy.container import CLASSIFIER, Container, running, write_pipeline
from trireme.serving.process import is_stub

_CONTROL = {
    "http": (http, "trireme-control-token"),
    "grpc": (grpc, "triton-grpc-protocol-trireme-control-token"),
}


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_control_apis_open_with_the_token_only(container: Container, protocol: str) -> None:
    library, header = _CONTROL[protocol]
    with library.InferenceServerClient(f"127.0.0.1:{getattr(container.ports, protocol)}") as client:
        for call in _control_calls(client):
            for headers in ({}, {header: container.token[::-1]}):
                with pytest.raises(InferenceServerException):
                    call(headers)
            call({header: container.token})


def test_a_whole_pipeline_is_healthy_and_a_stop_is_clean(container: Container) -> None:
    health = container.healthcheck()
    assert (health.returncode, health.stderr) == (0, "")
    assert container.stop() == 0


def test_the_health_check_names_the_pipelines_that_do_not_answer_and_the_others_serve(
    partly_broken_container: Container,
) -> None:
    health = partly_broken_container.healthcheck()
    assert health.returncode == 1
    assert "pipeline 'broken'" in health.stderr
    assert "pipeline 'nan': output 'score' is missing, empty or not finite" in health.stderr
    assert "pipeline 'parity'" not in health.stderr


def test_the_health_check_sees_a_frozen_model_process_where_tritons_own_health_does_not(container: Container) -> None:
    assert container.probe("/ready") == (200, "yes\n")
    for process in stubs(container):
        process.suspend()
    assert "pipeline 'parity': " in container.wait_until("/ready", 503)
    health = container.healthcheck()
    assert (health.returncode, "pipeline 'parity': " in health.stderr) == (1, True)
    with http.InferenceServerClient(f"127.0.0.1:{container.ports.http}") as client:
        assert client.is_server_ready()
    container.wait_until("/ready", 200, within_s=30)  # the launcher has ended it, and brought the step back


def test_a_dead_model_process_comes_back_within_seconds(container: Container) -> None:
    assert container.probe("/started")[0] == 200
    dead = stubs(container)
    for process in dead:
        process.kill()
    begin = time.monotonic()
    while not set(stubs(container)) - set(dead):
        assert time.monotonic() - begin < 10
        time.sleep(0.05)
    container.wait_until("/ready", 200, within_s=10)
    assert container.process.poll() is None


def test_a_dead_triton_is_started_again_by_the_same_launcher(container: Container) -> None:
    assert container.probe("/started")[0] == 200
    dead = triton_of(container)
    dead.kill()
    dead.wait(timeout=20)
    assert container.probe("/started")[0] == 200
    container.wait_until("/ready", 200, within_s=60)
    assert triton_of(container).pid != dead.pid
    assert container.stop() == 0


def test_a_broken_pipeline_keeps_the_container_from_having_started_but_not_from_living(
    partly_broken_container: Container,
) -> None:
    assert partly_broken_container.probe("/live")[0] == 200
    for path in ("/started", "/ready"):
        status, said = partly_broken_container.probe(path)
        assert status == 503
        assert "pipeline 'broken': " in said
    status, said = partly_broken_container.probe("/other")
    assert (status, said) == (404, "ask one of: /live, /ready, /started\n")


def test_on_sigterm_it_is_not_ready_at_once_and_what_is_in_flight_is_answered(tmp_path: Path) -> None:
    slow = CLASSIFIER.replace(
        "best = ",
        """if text[0, 0] == b"abc":
            __import__("time").sleep(1.5)
        best = """,
    )
    write_pipeline(tmp_path / "models", "slow", slow)
    for container in running(tmp_path):
        container.wait_until("/started", 200)
        text = grpc.InferInput("text", [1, 1], "BYTES")
        text.set_data_from_numpy(np.array([[b"abc"]], dtype=np.object_))
        with (
            grpc.InferenceServerClient(f"127.0.0.1:{container.ports.grpc}") as client,
            ThreadPoolExecutor(1) as pool,
        ):
            in_flight = pool.submit(client.infer, "slow", [text])
            time.sleep(0.5)
            container.process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            assert container.probe("/ready") == (503, "it is stopping\n")
            assert container.probe("/live")[0] == 200
            assert in_flight.result().as_numpy("label")[0, 0] == b"odd"
        assert container.process.wait(20) == 0


def test_the_health_check_fails_once_triton_is_gone(container: Container) -> None:
    container.stop()
    health = container.healthcheck()
    assert health.returncode == 1
    assert "Connection refused" in health.stderr


def stubs(container: Container) -> list[psutil.Process]:
    """The living Python processes of its models."""
    children = psutil.Process(container.process.pid).children(recursive=True)
    return [process for process in children if is_stub(process)]


def triton_of(container: Container) -> psutil.Process:
    """Its Triton."""
    children = psutil.Process(container.process.pid).children()
    (triton,) = [process for process in children if process.name() == "tritonserver"]
    return triton


def _control_calls(client: Any) -> list[Callable[[dict[str, str]], Any]]:
    return [
        lambda headers: client.get_model_repository_index(headers=headers),
        lambda headers: client.load_model("parity", headers=headers),
        lambda headers: client.get_model_config("parity", headers=headers),
        lambda headers: client.get_system_shared_memory_status(headers=headers),
        lambda headers: client.get_trace_settings(headers=headers),
        lambda headers: client.get_log_settings(headers=headers),
    ]
