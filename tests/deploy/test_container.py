"""The entrypoint and the health check around a real Triton, over real HTTP and gRPC."""

from collections.abc import Callable
from typing import Any

import psutil
import pytest
from tritonclient import grpc, http
from tritonclient.utils import InferenceServerException

from tests.deploy.container import Container
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


def test_the_health_check_sees_a_dead_model_process_where_tritons_own_health_does_not(container: Container) -> None:
    for process in psutil.Process(container.process.pid).children(recursive=True):
        if is_stub(process):
            process.kill()
    with http.InferenceServerClient(f"127.0.0.1:{container.ports.http}") as client:
        assert client.is_server_ready()
    health = container.healthcheck()
    assert health.returncode == 1
    assert "pipeline 'parity': 500" in health.stderr


def test_the_health_check_fails_once_triton_is_gone(container: Container) -> None:
    container.stop()
    health = container.healthcheck()
    assert health.returncode == 1
    assert "Connection refused" in health.stderr


def _control_calls(client: Any) -> list[Callable[[dict[str, str]], Any]]:
    return [
        lambda headers: client.get_model_repository_index(headers=headers),
        lambda headers: client.load_model("parity", headers=headers),
        lambda headers: client.get_model_config("parity", headers=headers),
        lambda headers: client.get_system_shared_memory_status(headers=headers),
        lambda headers: client.get_trace_settings(headers=headers),
        lambda headers: client.get_log_settings(headers=headers),
    ]
