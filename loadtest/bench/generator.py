"""A closed-loop HTTP load generator that costs a few microseconds a request, so that it measures the server.

Requests are rendered before the clock starts; one thread drives all connections through epoll, and an answer is only
looked at as far as its status and its end. It reports its own CPU time, so that its share can be judged.
"""

import selectors
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from trireme.errors import ServerError

_HEADER_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


@dataclass
class Sample:
    """What one run of the generator saw. Latencies in seconds, each with the second of the run at which it ended."""

    concurrency: int
    wall_s: float = 0.0
    cpu_s: float = 0.0
    latencies_s: list[float] = field(default_factory=list)
    ended_at_s: list[float] = field(default_factory=list)
    failures: int = 0
    first_failure: str = ""

    @property
    def texts_per_s(self) -> float:
        """Answered requests a second."""
        return len(self.latencies_s) / self.wall_s


class _Connection:
    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at = 0.0
        self.received = b""

    def ask(self, request: bytes) -> None:
        self.received = b""
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def take(self) -> bytes | None:
        """Receive what is there; gives the whole answer once it has arrived."""
        piece = self.socket.recv(1 << 16)
        if not piece:
            raise ConnectionError("the server closed the connection")
        self.received += piece
        end = self.received.find(_HEADER_END)
        if end < 0:
            return None
        return self.received if len(self.received) >= end + 4 + _content_length(self.received[:end]) else None


def run(url: str, requests: Sequence[bytes], concurrency: int, seconds: float) -> Sample:
    """Keep `concurrency` requests in flight for `seconds`; connections are opened before the clock starts.

    Args:
        url: host and port.
        requests: whole HTTP requests, sent in turn, again from the start when all are sent.
        concurrency: connections, each with one request in flight.
        seconds: how long new requests are sent; those in flight at the end are awaited and not counted.

    Raises:
        ServerError: the server cannot be reached, or closes its connections.
    """
    host, port = url.rsplit(":", 1)
    try:
        connections = [_Connection((host, int(port))) for _ in range(concurrency)]
        return _drive(connections, requests, seconds)
    except OSError as error:
        raise ServerError(url, f"broke off under load ({error})", "see its log") from error


def _drive(connections: list[_Connection], requests: Sequence[bytes], seconds: float) -> Sample:
    sample = Sample(len(connections))
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
        cpu, start, sent = time.process_time(), time.perf_counter(), 0
        for connection in connections:
            connection.ask(requests[sent % len(requests)])
            sent += 1
        while (now := time.perf_counter()) < start + seconds:
            for key, _ in selector.select(timeout=1.0):
                answer = key.data.take()
                if answer is not None:
                    _note(sample, key.data, answer, start)
                    key.data.ask(requests[sent % len(requests)])
                    sent += 1
        sample.wall_s, sample.cpu_s = now - start, time.process_time() - cpu
    _drain(connections)
    return sample


def _note(sample: Sample, connection: _Connection, answer: bytes, start: float) -> None:
    now = time.perf_counter()
    if not answer.startswith(b"HTTP/1.1 200"):
        sample.failures += 1
        sample.first_failure = sample.first_failure or answer[:500].decode(errors="replace")
        return
    sample.latencies_s.append(now - connection.sent_at)
    sample.ended_at_s.append(now - start)


def _drain(connections: list[_Connection]) -> None:
    for connection in connections:
        try:
            while connection.take() is None:
                pass
        except OSError:
            pass  # the clock has stopped: an answer that does not come no longer counts
        connection.socket.close()


def _content_length(header: bytes) -> int:
    lowered = header.lower()
    start = lowered.find(_LENGTH)
    if start < 0:
        return 0
    end = lowered.find(b"\r\n", start)
    return int(lowered[start + len(_LENGTH) : end if end > 0 else None])
