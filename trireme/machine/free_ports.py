"""Ports that nobody listens on, so that a server that is started next gets them."""

import random
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST, _TRIES = 10_000, 100


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on a port.

    Raises:
        OSError: the port is taken.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def listen_anywhere(host: str) -> socket.socket:
    """A socket that listens on a free port, which the kernel gives to no outgoing connection once it is let go."""
    incoming = range(_FIRST, int(_OUTGOING.read_text().split()[0]))
    for port in random.sample(incoming, min(_TRIES, len(incoming))):
        with suppress(OSError):
            return listen(host, port)
    return listen(host, 0)


def free_ports(host: str, count: int) -> list[int]:
    """Different ports that are free now. All are held together, so that no two are the same."""
    with ExitStack() as stack:
        return [stack.enter_context(listen_anywhere(host)).getsockname()[1] for _ in range(count)]
