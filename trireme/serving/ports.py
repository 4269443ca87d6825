"""Ports: free ones found, busy ones named before Triton starts."""

import re
import socket
from contextlib import ExitStack
from dataclasses import dataclass

from trireme.errors import PortError
from trireme.machine.free_ports import listen, listen_anywhere
from trireme.serving.spec import ServerSpec

OPTIONS = ("--http-port", "--grpc-port", "--metrics-port")
_TAKEN = re.compile(r":(\d+)'? already in use", re.IGNORECASE)


@dataclass(frozen=True)
class Ports:
    """The ports that a Triton listens on."""

    http: int
    grpc: int
    metrics: int

    def option(self, port: int) -> str:
        """The command-line option that chooses a port of these."""
        return dict(zip((self.http, self.grpc, self.metrics), OPTIONS, strict=True))[port]


def choose_ports(spec: ServerSpec) -> Ports:
    """The spec's ports, with a free one wherever it says 0.

    Raises:
        PortError: a port is taken.
    """
    with ExitStack() as held:  # all of them before any is let go, so that no two get the same free port
        listeners = [
            held.enter_context(bind(spec.host, port, option) if port else listen_anywhere(spec.host))
            for option, port in zip(OPTIONS, spec.ports, strict=True)
        ]
        return Ports(*(listener.getsockname()[1] for listener in listeners))


def taken_port(log_line: str) -> int | None:
    """The port that Triton found taken, if that is what a line of its log says."""
    found = _TAKEN.search(log_line)
    return int(found[1]) if found else None


def bind(host: str, port: int, option: str) -> socket.socket:
    """A socket that listens on a port.

    Raises:
        PortError: the port is taken; `option` is the one that chooses another.
    """
    try:
        return listen(host, port)
    except OSError as error:
        raise PortError(port, option) from error
