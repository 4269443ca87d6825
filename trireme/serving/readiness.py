"""Ready means: every pinned step is loaded, and a real text has passed through every pipeline."""

import logging
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
from tritonclient.utils import InferenceServerException

from text_runtime.probe import probe_of
from trireme.client.exchange import Call, Request
from trireme.client.sync_transports import GrpcTransport
from trireme.contract.repository import Repository
from trireme.errors import PortError, ServerError, TriremeError
from trireme.serving.control import Control
from trireme.serving.launch import Launch
from trireme.serving.ports import taken_port
from trireme.serving.spec import ServerSpec
from trireme.serving.triton_log import last_error

_PROBE_TIMEOUT_S = 60.0
_POLL_S = 0.1
_SAY_EVERY_S = 5.0
_log = logging.getLogger(__name__)


def wait_until_ready(
    launch: Launch, process: subprocess.Popen[bytes], is_cancelled: Callable[[], bool], timeout_s: float
) -> None:
    """Wait until every pipeline answers.

    Raises:
        PortError: another process took a port before Triton did.
        ServerError: Triton ended, a step refused to load, a pipeline fails, the time is over, or it was cancelled.
    """
    loading: set[str] = set()
    with Control(launch.grpc_url, launch.spec.control_token) as control:
        for _ in _ticks(launch, process, timeout_s, loading):
            if is_cancelled():
                raise ServerError(launch.grpc_url, "was stopped before it was ready", "start it again")
            loading.clear()
            loading.update(_closed_ports(launch, process.pid) or _still_loading(launch, control))
            if not loading:
                break
    for name in launch.spec.names:
        probe(launch.spec, launch.grpc_url, name)


def probe(spec: ServerSpec, grpc_url: str, name: str, timeout_s: float = _PROBE_TIMEOUT_S) -> None:
    """Send one small text through a pipeline.

    Raises:
        ServerError: it does not answer.
    """
    row = probe_of(tensor.name for tensor in Repository(spec.repository).config(name).input)
    transport = GrpcTransport(grpc_url)
    try:
        transport.infer(Request(Call(name, timeout_s), {name: [text] for name, text in row.items()}))
    except TriremeError as error:
        remedy = f"see the release's manifest, or promote another (`trireme releases {name}`)"
        raise ServerError(grpc_url, f"pipeline '{name}' fails a real inference ({error})", remedy) from error
    finally:
        transport.close()


def _ticks(launch: Launch, process: subprocess.Popen[bytes], timeout_s: float, loading: set[str]) -> Iterator[None]:
    start = said = time.monotonic()
    while (now := time.monotonic()) - start < timeout_s:
        if process.poll() is not None:
            last_words = last_error(launch.log)
            if port := taken_port(last_words):
                raise PortError(port, launch.ports.option(port))
            problem = f"Triton {_ending(process.returncode)}: {last_words}"
            raise ServerError(launch.grpc_url, problem, "run `trireme doctor`")
        if now - said > _SAY_EVERY_S:
            _log.info("still loading after %.0f s: %s", now - start, ", ".join(sorted(loading)))
            said = now
        yield
        time.sleep(_POLL_S)
    problem = f"not ready after {timeout_s:.0f} s; its log ends with: {last_error(launch.log)}"
    raise ServerError(launch.grpc_url, problem, "give it more time, or fewer pipelines")


def _ending(code: int) -> str:
    return f"ended with exit code {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"


def _closed_ports(launch: Launch, pid: int) -> set[str]:
    """Ports on which it does not listen yet.

    Triton opens one after the other, and ends a while after it found one taken: until then it answers on the others.
    """
    wanted = {"HTTP": launch.ports.http, "gRPC": launch.ports.grpc, "metrics": launch.ports.metrics}
    try:
        open_ports = {each.laddr.port for each in psutil.Process(pid).net_connections("tcp") if each.status == "LISTEN"}
    except psutil.Error:
        open_ports = set()
    return {f"{name} port {port}" for name, port in wanted.items() if port not in open_ports}


def _still_loading(launch: Launch, control: Control) -> set[str]:
    """What is not there yet: steps in their pinned versions, pipelines, and the ensembles of staged releases."""
    wanted = dict.fromkeys(launch.spec.models) | _pinned_steps(launch.spec)
    try:
        rows = control.index() if control.is_live() else []
    except InferenceServerException:
        return set(wanted)  # the listener is not up yet
    _refuse_broken([row for row in rows if row["name"] in wanted], launch.grpc_url)
    ready = {(row["name"], row.get("version")) for row in rows if row.get("state") == "READY"}
    ready |= {(name, None) for name, _ in ready}
    return {name for name, version in wanted.items() if (name, version) not in ready}


def _pinned_steps(spec: ServerSpec) -> dict[str, str | None]:
    repository = Repository(spec.repository)
    pins = {name: str(repository.pinned_release(name)) for name in spec.names}
    return {model: pin for name, pin in pins.items() for model in repository.step_models(name)}


def _refuse_broken(rows: list[dict[str, Any]], grpc_url: str) -> None:
    """Name the step that broke rather than the ensemble, which only misses it."""
    reasons = {(row["name"], row.get("version", "?")): row.get("reason") for row in rows if _is_broken(row)}
    if not reasons:
        return
    name, version = max(reasons, key=lambda key: len(key[0]))
    problem = f"model '{name}' version {version} does not load: {_gist(str(reasons[name, version]))}"
    raise ServerError(grpc_url, problem, "export the release again, or pin another")


def _is_broken(row: dict[str, Any]) -> bool:
    return row.get("state") == "UNAVAILABLE" and row.get("reason") not in (None, "", "unloaded")


def _gist(reason: str) -> str:
    """The exception of a traceback; else its first line."""
    lines = [line.strip() for line in reason.replace("\\n", "\n").splitlines() if line.strip()]
    return next((line for line in lines if "Error" in line), lines[0])
