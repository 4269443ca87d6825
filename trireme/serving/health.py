"""Answers an orchestrator's probes on a port of its own: is it alive, ready, has it started?

Each answer rests on a real inference through every pipeline, since Triton's own health stays green when a model's
process has died or a load has failed. 200 means yes; 503 means no, and the body says why, one line a pipeline.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from trireme.admin import Administrator
from trireme.contract.repository import Repository
from trireme.errors import InferenceError, ServerError, TriremeError
from trireme.serving.container_spec import ContainerSpec
from trireme.serving.server import Server

_FRESH_S = 1.0
_POLL_S = 0.1
_OK, _NOT_FOUND, _UNAVAILABLE = 200, 404, 503


class Health:
    """What the probes are told about a server. Set `is_stopping` when it begins to end."""

    def __init__(self, spec: ContainerSpec, server: Server) -> None:
        self.is_stopping = False
        self._spec = spec
        self._server = server
        self._has_started = False
        self._lock = threading.Lock()
        self._found: list[str] = []
        self._found_at = float("-inf")
        self._found_of: int | None = None

    @property
    def questions(self) -> Mapping[str, Callable[[], list[str]]]:
        """By path: what keeps the answer from being yes."""
        return {"/live": self.live, "/ready": self.ready, "/started": self.started}

    def started(self) -> list[str]:
        """Whether every pipeline has answered once; it stays so."""
        return [] if self._has_started else self._flaws()

    def ready(self) -> list[str]:
        """Whether every pipeline answers, and requests are still welcome."""
        return ["it is stopping"] if self.is_stopping else self._flaws()

    def live(self) -> list[str]:
        """Whether it is worth waiting for: supervision goes on, and what has once answered still does.

        An orchestrator bears with a pipeline that does not for minutes, as a busy one may be slow.
        """
        if self._server.failure is not None:
            return [str(self._server.failure)]
        return self._flaws() if self._has_started and not self.is_stopping else []

    def _flaws(self) -> list[str]:
        """Ask every pipeline, at most once a second for each life of Triton, however many probes ask."""
        pid = self._server.triton.running_pid
        if pid is None:
            return ["Triton is not running"]
        with self._lock:
            if self._found_of != pid or time.monotonic() - self._found_at > _FRESH_S:
                # A connection of its own: an old one comes back to a Triton that was started again ever more slowly.
                with self._server.triton.administrator() as admin:
                    found = (self._flaw(admin, name) for name in self._spec.models)
                    self._found = [f"pipeline '{name}': {flaw}" for name, flaw in found if flaw]
                self._found_at, self._found_of = time.monotonic(), pid
                self._has_started = self._has_started or not self._found
            return self._found

    def _flaw(self, admin: Administrator, name: str) -> tuple[str, str]:
        try:
            admin.probe(name, Repository(self._spec.repository).config(name), self._spec.health_timeout_s)
        except InferenceError as error:
            return name, error.problem
        except TriremeError as error:
            return name, str(error)
        return name, ""


@contextmanager
def answering(health: Health, host: str, port: int) -> Iterator[None]:
    """Answer probes until the block ends.

    Raises:
        ServerError: the port cannot be opened.
    """
    try:
        listener = ThreadingHTTPServer((host, port), _handler(health))
    except OSError as error:
        remedy = "choose another with TRIREME_HEALTH_ADDRESS"
        raise ServerError("here", f"{host}:{port} cannot be opened for probes ({error.strerror})", remedy) from error
    threading.Thread(target=listener.serve_forever, args=(_POLL_S,), name="trireme-health", daemon=True).start()
    try:
        yield
    finally:
        listener.shutdown()
        listener.server_close()


def _handler(health: Health) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            question = health.questions.get(self.path)
            flaws = question() if question else [f"ask one of: {', '.join(health.questions)}"]
            self._answer((_UNAVAILABLE if flaws else _OK) if question else _NOT_FOUND, flaws or ["yes"])

        def _answer(self, status: int, lines: list[str]) -> None:
            content = "".join(f"{line}\n" for line in lines).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Probes come every few seconds: nothing is written of them."""

    return Handler
