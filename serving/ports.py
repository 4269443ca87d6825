"""Ports: free ones found, busy ones named before Triton starts."""

import random
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from serving.spec import ServerSpec
from trireme.errors import PortError

OPTIONS = ("--http-port", "--grpc-port", "--metrics-port")
_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST, _TRIES = 10_000, 100
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
    wanted = dict(zip(OPTIONS, spec.ports, strict=True))
    # All are held together before any is let go, so that no two of them get the same free port.
    held = [bind(spec.host, port, option) if port else _bind_free(spec.host, option) for option, port in wanted.items()]
    numbers = [listener.getsockname()[1] for listener in held]
    for listener in held:
        listener.close()
    return Ports(*numbers)


def taken_port(log_line: str) -> int | None:
    """The port that Triton found taken, if that is what a line of its log says."""
    found = _TAKEN.search(log_line)
    return int(found[1]) if found else None


def _bind_free(host: str, option: str) -> socket.socket:
    """A listening socket on a free port that no outgoing connection is given by the kernel before Triton takes it."""
    incoming = range(_FIRST, int(_OUTGOING.read_text().split()[0]))
    for port in random.sample(incoming, min(_TRIES, len(incoming))):
        with suppress(PortError):
            return bind(host, port, option)
    return bind(host, 0, option)


def bind(host: str, port: int, option: str) -> socket.socket:
    """A socket that listens on a port.

    Raises:
        PortError: the port is taken; `option` is the one that chooses another.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise PortError(port, option) from error
    return listener
