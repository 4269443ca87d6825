"""A running Triton: from `start` to `stop`."""

import logging
import signal
import threading
from collections.abc import Callable
from types import FrameType

from trireme.errors import PortError, ServerError
from trireme.serving.hang_detector import HangDetector
from trireme.serving.launch import Launch
from trireme.serving.layout import require_safe_path
from trireme.serving.ports import choose_ports
from trireme.serving.spec import ServerSpec
from trireme.serving.supervision import Supervisor
from trireme.serving.triton import Triton
from trireme.serving.wheel import locate_wheel
from trireme.serving.wheel_launch import WheelLaunch
from trireme.serving.workspace import Workspace, sweep

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_POLL_S = 0.5
_LOST_PORTS = 3  # a free port may be taken between its choice and Triton's start
_log = logging.getLogger(__name__)


def start(spec: ServerSpec) -> "Server":
    """Start Triton and wait until every pipeline answers a real inference.

    Raises:
        PortError: a port is taken.
        MissingLibraryError: the wheel is not installed.
        ServerError: Triton does not start, or a pipeline does not load. Nothing is left running.
    """
    require_safe_path(spec.repository.resolve())
    sweep()  # a killed server's Triton may still hold the ports
    for _ in range(_LOST_PORTS):
        try:
            return _start(spec)
        except PortError as error:
            if error.port in spec.ports:
                raise
            _log.info("%s; trying another", error)
    return _start(spec)


def _start(spec: ServerSpec) -> "Server":
    wheel, ports = locate_wheel(), choose_ports(spec)
    workspace = Workspace()
    server = Server(WheelLaunch(spec, ports, workspace.folder, wheel), workspace)
    try:
        server.launch()
    except BaseException:
        server.stop()
        raise
    return server


def serve(spec: ServerSpec, announce: Callable[["Server"], None]) -> None:
    """Serve until SIGINT or SIGTERM, which may also come while Triton starts; `announce` tells when it is up.

    Raises:
        PortError: a port is taken.
        ServerError: Triton does not start, a pipeline does not load, or it died and does not come back. Nothing is
            left running.
    """
    interrupt_on_signals()
    try:
        with start(spec) as server:
            announce(server)
            server.wait()
    except KeyboardInterrupt:
        _log.info("stopped before it was ready")


def interrupt_on_signals() -> None:
    """Let SIGINT and SIGTERM raise KeyboardInterrupt in the main thread, once."""
    for number in _SIGNALS:
        signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Interrupt once: a second signal must not break off the cleaning."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


class Server:
    """A Triton that serves. Use it as a context manager, or call `stop`."""

    def __init__(self, launch: Launch, workspace: Workspace) -> None:
        self._launch = launch
        self._workspace = workspace
        self._triton = Triton(launch)
        self._supervisor = Supervisor(self._triton)
        self._hang_detector = HangDetector(self._triton)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Triton's process id; another one after it died and was started again."""
        return self._triton.pid

    @property
    def http_url(self) -> str:
        """Host and port for HTTP, as Triton's clients take them."""
        return f"{self._launch.host}:{self._launch.ports.http}"

    @property
    def grpc_url(self) -> str:
        """Host and port for gRPC."""
        return self._launch.grpc_url

    @property
    def metrics_url(self) -> str:
        """Where Prometheus reads the metrics."""
        return self._launch.endpoint.metrics_url

    @property
    def addresses(self) -> str:
        """All of them on one line."""
        return f"HTTP {self.http_url}, gRPC {self.grpc_url}, metrics {self.metrics_url}"

    @property
    def control_headers(self) -> dict[str, str]:
        """The gRPC header that opens the control interface."""
        return self._launch.endpoint.headers

    @property
    def triton(self) -> Triton:
        """The Triton behind it."""
        return self._triton

    @property
    def failure(self) -> ServerError | None:
        """Why supervision has given up; None while it has not."""
        return self._supervisor.failure

    def launch(self) -> None:
        """Start the process, wait until it is ready, and begin to watch it."""
        self._launch.prepare()
        self._triton.begin()
        self._supervisor.start()
        self._hang_detector.start()

    def wait(self) -> None:
        """Serve until SIGINT or SIGTERM. For the main thread.

        Raises:
            ServerError: Triton died and does not come back.
        """
        asked = threading.Event()
        for number in _SIGNALS:
            signal.signal(number, lambda *_: asked.set())
        while not asked.wait(_POLL_S):
            if self.failure is not None:
                raise self.failure
        _log.info("stopping: requests in flight are still answered")

    def stop(self) -> None:
        """End Triton and remove all that belonged to it. Safe to call twice."""
        self._hang_detector.stop()
        self._supervisor.stop()
        self._triton.end()
        self._supervisor.join()
        self._triton.end()  # should the supervisor just have started it again
        self._workspace.remove()
