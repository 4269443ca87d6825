"""Ready means: every pinned step is loaded, and a real text has passed through every pipeline."""

import logging
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import psutil

from trireme.admin import Administrator, ModelVersion, exception_of
from trireme.contract.repository import Repository
from trireme.errors import InferenceError, PortError, ServerError
from trireme.serving.launch import Launch, Served
from trireme.serving.ports import taken_port
from trireme.serving.triton_log import last_error

_PROBE_TIMEOUT_S = 60.0
_POLL_S = 0.1
_SAY_EVERY_S = 5.0
_log = logging.getLogger(__name__)


def wait_until_ready(
    launch: Launch,
    process: subprocess.Popen[bytes],
    admin: Administrator,
    is_cancelled: Callable[[], bool],
    timeout_s: float,
) -> None:
    """Wait until every pipeline answers.

    Raises:
        PortError: another process took a port before Triton did.
        ServerError: Triton ended, a step refused to load, a pipeline fails, the time is over, or it was cancelled.
    """
    loading: set[str] = set()
    for _ in _ticks(launch, process, timeout_s, loading):
        require_wanted(launch, is_cancelled)
        loading.clear()
        loading.update(_closed_ports(launch, process.pid) or _still_loading(launch, admin))
        if not loading:
            break
    for name in launch.spec.names:
        _require_answer(launch, admin, name)


def require_wanted(launch: Launch, is_cancelled: Callable[[], bool]) -> None:
    """Go on only while nobody has cancelled the start.

    Raises:
        ServerError: somebody has.
    """
    if is_cancelled():
        raise ServerError(launch.grpc_url, "was stopped before it was ready", "start it again")


def _require_answer(launch: Launch, admin: Administrator, name: str) -> None:
    """Send one small text through a pipeline.

    Raises:
        ServerError: it does not answer.
    """
    try:
        admin.probe(name, Repository(launch.spec.repository).config(name), _PROBE_TIMEOUT_S)
    except InferenceError as error:
        remedy = f"see the release's manifest, or promote another (`trireme releases {name}`)"
        raise ServerError(launch.grpc_url, f"pipeline '{name}' fails a real inference ({error})", remedy) from error


def _ticks(launch: Launch, process: subprocess.Popen[bytes], timeout_s: float, loading: set[str]) -> Iterator[None]:
    start = said = time.monotonic()
    while (now := time.monotonic()) - start < timeout_s:
        if process.poll() is not None:
            last_words = last_error(launch.log)
            if port := taken_port(last_words):
                raise PortError(port, launch.ports.option(port))
            problem = f"Triton {ending(process.returncode)}: {last_words}"
            raise ServerError(launch.grpc_url, problem, "run `trireme doctor`")
        if now - said > _SAY_EVERY_S:
            _log.info("still loading after %.0f s: %s", now - start, ", ".join(sorted(loading)))
            said = now
        yield
        time.sleep(_POLL_S)
    problem = f"not ready after {timeout_s:.0f} s; its log ends with: {last_error(launch.log)}"
    raise ServerError(launch.grpc_url, problem, "give it more time, or fewer pipelines")


def ending(code: int) -> str:
    """How a process ended, in words."""
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


def _still_loading(launch: Launch, admin: Administrator) -> set[str]:
    """What is not there yet: steps in their pinned versions, pipelines, and the ensembles of staged releases."""
    wanted = dict.fromkeys(launch.spec.models) | _pinned_steps(launch.spec)
    try:
        rows = admin.index() if admin.is_live() else []
    except ServerError:
        return set(wanted)  # the listener is not up yet
    _refuse_broken([row for row in rows if row.name in wanted], launch.grpc_url)
    ready: set[tuple[str, str | None]] = {(row.name, row.version) for row in rows if row.is_ready}
    ready |= {(name, None) for name, _ in ready}
    return {name for name, version in wanted.items() if (name, version) not in ready}


def _pinned_steps(spec: Served) -> dict[str, str | None]:
    repository = Repository(spec.repository)
    pins = {name: str(repository.pinned_release(name)) for name in spec.names}
    return {model: pin for name, pin in pins.items() for model in repository.step_models(name)}


def _refuse_broken(rows: list[ModelVersion], grpc_url: str) -> None:
    """Name the step that broke rather than the ensemble, which only misses it."""
    broken = [row for row in rows if row.is_broken]
    if not broken:
        return
    row = max(broken, key=lambda each: len(each.name))
    problem = f"model '{row.name}' version {row.version or '?'} does not load: {exception_of(row.reason)}"
    raise ServerError(grpc_url, problem, "export the release again, or pin another")
