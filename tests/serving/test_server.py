"""Starting and ending Triton."""

import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.forks import forks_from_now
from tests.serving.throwaway import ask, regions_of, write_pipeline
from text_runtime.manifest import sha256_of
from trireme.contract.pipelines import Step
from trireme.errors import IntegrityError, PortError, RepositoryError, ServerError
from trireme.machine.local_servers import local_servers
from trireme.serving import ServerSpec, start
from trireme.serving.ports import Ports, choose_ports
from trireme.serving.process import stubs_of


@pytest.fixture
def parrots(tmp_path: Path) -> Path:
    """A repository with the throwaway pipeline, this test's own."""
    return write_pipeline(tmp_path / "repository")


@contextmanager
def command(repository: Path) -> Iterator[subprocess.Popen[str]]:
    """`trireme serve` on free ports."""
    words = [sys.executable, "-m", "trireme", "serve", "-r", str(repository)]
    ports = ["--http-port", "0", "--grpc-port", "0", "--metrics-port", "0"]
    with subprocess.Popen([*words, *ports], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def grpc_url_of(process: subprocess.Popen[str]) -> str:
    """Wait until the command says that it is ready; gives its gRPC address."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("ready: HTTP 127.0.0.1:")
    return line.split("gRPC ")[1].split(",")[0]


def family_of(pid: int) -> list[psutil.Process]:
    """All that a process started, and what those started."""
    return psutil.Process(pid).children(recursive=True)


def is_alive(process: psutil.Process) -> bool:
    """Whether a process runs; one whose parent is slow to reap it does not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def folder_of(family: list[psutil.Process]) -> Path:
    """The private folder of the Triton in a family."""
    (words,) = [process.cmdline() for process in family if process.name() == "tritonserver"]
    (option,) = [word for word in words if word.startswith("--backend-directory=")]
    return Path(option.split("=")[1]).parent


def test_nothing_is_left_after_stop(parrots: Path) -> None:
    server = start(ServerSpec(parrots, 0, 0, 0))
    family = [psutil.Process(server.pid), *stubs_of(server.pid)]
    folder = server._launch.folder
    assert len(family) == 4
    assert regions_of(folder)
    server.stop()
    assert not any(map(is_alive, family))
    assert not regions_of(folder)
    assert not folder.exists()


def test_a_stopped_server_can_be_stopped_again(parrots: Path) -> None:
    server = start(ServerSpec(parrots, 0, 0, 0))
    server.stop()
    server.stop()
    with pytest.raises(ServerError, match="not running"):
        _ = server.pid


def test_a_server_outlives_the_thread_that_started_it(parrots: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        server = pool.submit(start, ServerSpec(parrots, 0, 0, 0)).result()
    with server:
        pid = server.pid
        time.sleep(1)
        ask(server.grpc_url)
        assert server.pid == pid


def test_starting_triton_forks_nothing_beside_grpcs_threads(parrots: Path) -> None:
    seen = forks_from_now()
    with start(ServerSpec(parrots, 0, 0, 0)):
        pass
    assert seen == []


def test_triton_and_its_steps_allocate_with_mimalloc(parrots: Path) -> None:
    with start(ServerSpec(parrots, 0, 0, 0)) as server:
        for pid in (server.pid, *(stub.pid for stub in stubs_of(server.pid))):
            assert "libmimalloc" in Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.parametrize(("wanted", "found"), [(True, {"0.5", "0.95", "0.99"}), (False, set())])
def test_three_quantiles_of_latency_are_published_unless_they_are_not_wanted(
    parrots: Path, wanted: bool, found: set[str]
) -> None:
    with (
        start(ServerSpec(parrots, 0, 0, 0, latency_summaries=wanted)) as server,
        urllib.request.urlopen(server.metrics_url, timeout=10) as answer,
    ):
        lines = answer.read().decode().splitlines()
    summaries = [line for line in lines if line.startswith('nv_inference_request_summary_us{model="parrot"')]
    assert {quantile for line in summaries for quantile in re.findall(r'quantile="([\d.]+)"', line)} == found


def test_the_state_file_is_private_and_goes_with_the_server(
    parrots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with start(ServerSpec(parrots, 0, 0, 0)) as server:
        (path,) = (tmp_path / "trireme").iterdir()
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
        (state,) = local_servers()
        assert (state.pid, state.grpc) == (server.pid, server.grpc_url)
    assert not path.exists()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_on_a_signal_requests_in_flight_are_answered_and_the_exit_is_zero(
    parrots: Path, ending: signal.Signals
) -> None:
    with command(parrots) as process, ThreadPoolExecutor(1) as pool:
        url = grpc_url_of(process)
        family = family_of(process.pid)
        folder = folder_of(family)
        in_flight = pool.submit(ask, url, "sleep 1.5")
        time.sleep(0.5)
        process.send_signal(ending)
        in_flight.result()
        assert process.wait(15) == 0
    assert not any(map(is_alive, family))
    assert not regions_of(folder)


def test_a_signal_while_starting_leaves_nothing(parrots: Path) -> None:
    with command(parrots) as process:
        while not (family := [each for each in family_of(process.pid) if each.name() == "tritonserver"]):
            time.sleep(0.01)
        folder = folder_of(family)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    assert not any(map(is_alive, family))
    assert not regions_of(folder)
    assert not folder.exists()


def test_a_killed_commands_triton_ends_and_the_next_start_sweeps_the_rest(parrots: Path) -> None:
    with command(parrots) as process:
        grpc_url_of(process)
        family = family_of(process.pid)
        folder = folder_of(family)
        process.kill()
    deadline = time.monotonic() + 15
    while any(map(is_alive, family)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_alive, family))
    start(ServerSpec(parrots, 0, 0, 0)).stop()
    assert not regions_of(folder)
    assert not folder.exists()


def test_stubs_that_outlived_everybody_are_swept_by_the_next_start(parrots: Path) -> None:
    with command(parrots) as process:
        grpc_url_of(process)
        family = family_of(process.pid)
        folder = folder_of(family)
        for each in family:  # a frozen stub cannot see that its Triton died
            if each.name() != "tritonserver":
                each.suspend()
        process.kill()
        next(each for each in family if each.name() == "tritonserver").kill()
    assert regions_of(folder)
    start(ServerSpec(parrots, 0, 0, 0)).stop()
    assert not any(map(is_alive, family))
    assert not regions_of(folder)
    assert not folder.exists()


def test_a_busy_port_is_named_with_its_option(parrots: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(PortError, match=rf"port {port} is already in use.*--grpc-port"):
            start(ServerSpec(parrots, 0, port, 0))


def test_a_free_port_that_is_lost_before_triton_takes_it_is_replaced(
    parrots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = Ports(listener.getsockname()[1], 1, 2)
        offers = iter([taken])
        monkeypatch.setattr(
            "trireme.serving.server.choose_ports", lambda spec: next(offers, None) or choose_ports(spec)
        )
        with start(ServerSpec(parrots, 0, 0, 0)) as server:
            assert not server.http_url.endswith(f":{taken.http}")


def test_a_wanted_port_that_is_lost_before_triton_takes_it_is_named(
    parrots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = listener.getsockname()[1]
        monkeypatch.setattr("trireme.serving.server.choose_ports", lambda _: Ports(taken, 1, 2))
        with pytest.raises(PortError, match=rf"port {taken} is already in use.*--http-port"):
            start(ServerSpec(parrots, taken, 0, 0))


def test_free_ports_are_none_that_the_kernel_gives_to_outgoing_connections(parrots: Path) -> None:
    ports = choose_ports(ServerSpec(parrots, 0, 0, 0))
    first_outgoing = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(port < first_outgoing for port in (ports.http, ports.grpc, ports.metrics))


def test_an_empty_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="holds no pipeline"):
        ServerSpec(tmp_path)


def test_a_pipeline_that_is_not_in_the_repository_is_refused(parrots: Path) -> None:
    with pytest.raises(RepositoryError, match="macaw"):
        ServerSpec(parrots, pipelines=("macaw",))


def test_a_pin_to_a_release_that_is_not_there_is_refused(parrots: Path) -> None:
    shutil.rmtree(parrots / "parrot" / "1")
    with pytest.raises(RepositoryError, match="pins release 1, which is not on disk"):
        ServerSpec(parrots)


def test_a_changed_file_is_found_before_triton_starts(parrots: Path) -> None:
    with (parrots / "parrot_encoder" / "1" / "model.py").open("a") as model:
        model.write("#")
    with pytest.raises(IntegrityError, match=r"model\.py"):
        ServerSpec(parrots)


def test_an_address_that_others_can_reach_is_refused(parrots: Path) -> None:
    with pytest.raises(ValueError, match="not loopback"):
        ServerSpec(parrots, host="0.0.0.0")


def test_a_repository_whose_path_triton_cannot_use_is_refused_at_once(parrots: Path) -> None:
    moved = parrots.rename(parrots.parent / "with a blank")
    with pytest.raises(ServerError, match="without blanks"):
        start(ServerSpec(moved, 0, 0, 0))


def test_a_step_that_does_not_load_is_named_with_its_own_exception(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "trireme.serving")
    write_pipeline(tmp_path, broken=Step.ENCODER)
    reason = r"'parrot_encoder' version 1 does not load: .*ValueError: the labels are gone;"
    with pytest.raises(ServerError, match=reason):
        start(ServerSpec(tmp_path, 0, 0, 0))
    folder = Path(caplog.text.split("its log: ")[1].split(")")[0]).parent
    assert not regions_of(folder)
    assert not folder.exists()


def test_a_pipeline_that_loads_and_does_not_answer_is_refused(parrots: Path) -> None:
    model = parrots / "parrot_postprocess" / "1" / "model.py"
    honest = sha256_of(model)
    model.write_text(
        model.read_text().replace("def answer(self, request):", "def answer(self, request):\n        1 / 0")
    )
    for manifest in parrots.glob("*/1/manifest.json"):  # a release that was made like this
        manifest.write_text(manifest.read_text().replace(honest, sha256_of(model)))
    with pytest.raises(ServerError, match=r"'parrot' fails a real inference .*division by zero"):
        start(ServerSpec(parrots, 0, 0, 0))


def test_only_the_pipelines_asked_for_are_served(tmp_path: Path) -> None:
    write_pipeline(tmp_path)
    write_pipeline(tmp_path, name="cuckoo", broken=Step.TOKENIZER)
    with start(ServerSpec(tmp_path, 0, 0, 0, pipelines=("parrot",))) as server:
        ask(server.grpc_url)
        assert len(stubs_of(server.pid)) == 3
