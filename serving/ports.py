"""Ports: free ones found, busy ones named before Triton starts."""

import socket
from dataclasses import dataclass

from serving.spec import ServerSpec
from trireme.errors import PortError


@dataclass(frozen=True)
class Ports:
    """The ports that a Triton listens on."""

    http: int
    grpc: int
    metrics: int


def choose_ports(spec: ServerSpec) -> Ports:
    """The spec's ports, with a free one wherever it says 0.

    Raises:
        PortError: a port is taken.
    """
    wanted = {"--http-port": spec.http_port, "--grpc-port": spec.grpc_port, "--metrics-port": spec.metrics_port}
    # All are held together before any is let go, so that no two of them get the same free port.
    held = [bind(spec.host, port, option) for option, port in wanted.items()]
    numbers = [listener.getsockname()[1] for listener in held]
    for listener in held:
        listener.close()
    return Ports(*numbers)


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
