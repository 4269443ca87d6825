"""A running Triton: from `start` to `stop`."""

import logging
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from serving.control import Control
from serving.layout import lay_out_backends
from serving.ports import choose_ports
from serving.process import Launch, end, spawn
from serving.readiness import wait_until_ready
from serving.spec import ServerSpec
from serving.state import remove_state, write_state
from serving.supervision import Supervisor
from serving.wheel import locate_wheel
from trireme.errors import ServerError
from trireme.state import control_headers

_READY_TIMEOUT_S = 300.0
_log = logging.getLogger(__name__)


def start(spec: ServerSpec) -> "Server":
    """Start Triton and wait until every pipeline answers a real inference.

    Raises:
        PortError: a port is taken.
        ServerError: Triton does not start, or a pipeline does not load. Nothing is left running.
    """
    launch = Launch(spec, choose_ports(spec), locate_wheel(), Path(tempfile.mkdtemp(prefix="trireme-")))
    server = Server(launch)
    try:
        lay_out_backends(launch.backends, launch.wheel)
        server.launch()
    except BaseException:
        server.stop()
        raise
    return server


def serve(spec: ServerSpec, announce: Callable[["Server"], None]) -> None:
    """Serve until SIGINT or SIGTERM, which may also come while Triton starts; `announce` tells when it is up.

    Raises:
        PortError: a port is taken.
        ServerError: Triton does not start, or a pipeline does not load. Nothing is left running.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with start(spec) as server:
            announce(server)
            server.wait()
    except KeyboardInterrupt:
        _log.info("stopped before it was ready")


class Server:
    """A Triton that serves. Use it as a context manager, or call `stop`."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._process: subprocess.Popen[bytes] | None = None
        self._supervisor = Supervisor(lambda: self.pid, self._open_control, self._restart)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Triton's process id."""
        if self._process is None:
            raise ServerError(self.grpc_url, "it is not running", "start it")
        return self._process.pid

    @property
    def http_url(self) -> str:
        """Host and port for HTTP, as Triton's clients take them."""
        return f"{self._launch.spec.host}:{self._launch.ports.http}"

    @property
    def grpc_url(self) -> str:
        """Host and port for gRPC."""
        return f"{self._launch.spec.host}:{self._launch.ports.grpc}"

    @property
    def metrics_url(self) -> str:
        """Where Prometheus reads the metrics."""
        return f"http://{self._launch.spec.host}:{self._launch.ports.metrics}/metrics"

    @property
    def addresses(self) -> str:
        """All of them on one line."""
        return f"HTTP {self.http_url}, gRPC {self.grpc_url}, metrics {self.metrics_url}"

    @property
    def control_headers(self) -> dict[str, str]:
        """The gRPC header that opens the control interface."""
        return control_headers(self._launch.spec.control_token)

    def launch(self) -> None:
        """Start the process, wait until it is ready, and begin to watch it."""
        self._spawn()
        self._supervisor.start()
        write_state(self._launch, self.pid)

    def wait(self) -> None:
        """Serve until SIGINT or SIGTERM."""
        asked = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: asked.set())
        asked.wait()
        _log.info("stopping: requests in flight are still answered")

    def stop(self) -> None:
        """End Triton and remove all that belonged to it. Safe to call twice."""
        self._supervisor.stop()
        if self._process is not None:
            end(self._process, self._launch)
            self._process = None
        remove_state(self._launch)
        shutil.rmtree(self._launch.folder, ignore_errors=True)

    def _spawn(self) -> None:
        _log.info("starting Triton: %s", ", ".join(self._launch.spec.names))
        self._process = spawn(self._launch)
        try:
            wait_until_ready(self._launch.spec, self._process, self.grpc_url, _READY_TIMEOUT_S)
        except ServerError:
            _log.debug("%s", self._launch.log.read_text(errors="replace"))
            raise

    def _restart(self) -> None:
        if self._process is not None:
            end(self._process, self._launch)
        self._spawn()
        write_state(self._launch, self.pid)

    def _open_control(self) -> Control:
        return Control(self.grpc_url, self._launch.spec.control_token)
