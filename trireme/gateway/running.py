"""Runs a gateway until it is told to end."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from trireme.gateway.app import make_app
from trireme.gateway.spec import GatewaySpec

_DRAIN_S = 30


class _Server(uvicorn.Server):
    """Tells its address once it listens, and ends with 0 when it is told to end."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: Any = None) -> None:
        """See the base class."""
        await super().startup(sockets)
        for server in self.servers:
            for socket in server.sockets:
                host, port = socket.getsockname()[:2]
                self._on_ready(f"http://{host}:{port}")

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The base class raises a signal again when all is done, and so ends the process by it."""
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def run(spec: GatewaySpec, on_ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; what is under way may end within half a minute.

    Args:
        spec: what to serve.
        on_ready: called with the address once it listens.
    """
    config = uvicorn.Config(
        make_app(spec),
        host=spec.host,
        port=spec.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_DRAIN_S,
    )
    _Server(config, on_ready).run()
