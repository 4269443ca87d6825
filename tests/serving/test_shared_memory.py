"""System shared memory for data: shut without a word from the user, and with one it carries texts in and scores out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton_http
from tritonclient.utils import InferenceServerException, serialize_byte_tensor, shared_memory

from trireme.serving import Server, ServerSpec, start
from trireme.serving.data_regions import data_regions
from trireme.serving.finding import OK, WARN

TEXTS = np.array([["物流很快，质量也好".encode()], ["用了两天就坏了".encode()]], dtype=np.object_)
PROTOCOLS = pytest.mark.parametrize("protocol", [triton_http, triton_grpc], ids=["http", "grpc"])


@pytest.fixture(scope="module")
def opened(repository: Path) -> Iterator[Server]:
    """A Triton that was started with `--shared-memory`."""
    with start(ServerSpec(repository, 0, 0, 0, shared_memory=True)) as server:
        yield server


@contextmanager
def region(client: Any, name: str, size_bytes: int) -> Iterator[Any]:
    """A region of this process's that Triton knows by the same name."""
    handle = shared_memory.create_shared_memory_region(name, f"/trireme_test_{name}", size_bytes)
    try:
        client.register_system_shared_memory(name, f"/trireme_test_{name}", size_bytes)
        yield handle
        client.unregister_system_shared_memory(name)
    finally:
        shared_memory.destroy_shared_memory_region(handle)


def client_of(protocol: ModuleType, server: Server) -> Any:
    """NVIDIA's own client, without a token."""
    return protocol.InferenceServerClient(server.http_url if protocol is triton_http else server.grpc_url)


def scores_through_regions(protocol: ModuleType, server: Server) -> npt.NDArray[np.float32]:
    """Send the texts through one region, and read FP32 [2, 2] from another."""
    packed = serialize_byte_tensor(TEXTS).item()
    with (
        client_of(protocol, server) as client,
        region(client, "texts", len(packed)) as texts,
        region(client, "scores", 16) as scores,
    ):
        shared_memory.set_shared_memory_region(texts, [np.frombuffer(packed, dtype=np.uint8)])
        asked = protocol.InferInput("text", list(TEXTS.shape), "BYTES")
        asked.set_shared_memory("texts", len(packed))
        wanted = protocol.InferRequestedOutput("scores")
        wanted.set_shared_memory("scores", 16)
        client.infer("sentiment", [asked], outputs=[wanted])
        return np.array(shared_memory.get_contents_as_numpy(scores, np.float32, [2, 2]))


@PROTOCOLS
def test_texts_go_in_and_scores_come_out_through_shared_memory(protocol: ModuleType, opened: Server) -> None:
    asked = protocol.InferInput("text", list(TEXTS.shape), "BYTES")
    asked.set_data_from_numpy(TEXTS)
    with client_of(protocol, opened) as client:
        over_the_wire = client.infer("sentiment", [asked]).as_numpy("scores")
    np.testing.assert_array_equal(scores_through_regions(protocol, opened), over_the_wire)


@PROTOCOLS
def test_without_the_switch_triton_says_that_it_is_restricted(protocol: ModuleType, served: Server) -> None:
    with pytest.raises(InferenceServerException, match="restricted, expecting header"):
        scores_through_regions(protocol, served)


@PROTOCOLS
def test_the_switch_opens_nothing_else(protocol: ModuleType, opened: Server) -> None:
    with client_of(protocol, opened) as client:
        for call in (client.get_model_repository_index, client.get_log_settings, client.get_trace_settings):
            with pytest.raises(InferenceServerException, match="restricted"):
                call()
        with pytest.raises(InferenceServerException, match="restricted"):
            client.unload_model("sentiment")


def test_an_open_server_lets_a_client_reach_the_regions_of_its_models(opened: Server) -> None:
    """Why it is shut: should a Triton refuse this one day, the docs may say less."""
    (name, *_) = [path.name for path in Path("/dev/shm").glob(f"{opened._launch.region_prefix}*")]
    with client_of(triton_grpc, opened) as client:
        client.register_system_shared_memory("foreign", f"/{name}", 64)
        client.unregister_system_shared_memory("foreign")


def test_the_doctor_tells_which_servers_are_open(served: Server, opened: Server) -> None:
    found = list(data_regions())
    (shut,) = (row for row in found if served.grpc_url in row.found)
    (wide,) = (row for row in found if opened.grpc_url in row.found)
    assert (shut.status, wide.status) == (OK, WARN)
    assert shut.found.startswith("shut")
    assert wide.found.startswith("open")
    assert wide.remedy
