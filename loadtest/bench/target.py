"""What is measured: a server by its address, how it is asked, and the processes whose CPU time it costs."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

SERVER = "server"
"""All processes of a server but those that run a Python model."""

Render = Callable[[str], bytes]
"""The body of the request for one text."""


class Triton(Protocol):
    """A running Triton, however it was started."""

    @property
    def pid(self) -> int:
        """The root of its processes."""

    @property
    def http_url(self) -> str:
        """Host and port for HTTP."""

    @property
    def grpc_url(self) -> str:
        """Host and port for gRPC."""

    @property
    def metrics_url(self) -> str:
        """Where Prometheus reads."""


@dataclass(frozen=True)
class Target:
    """A running server. `pid` is the root of the processes that serve; `is_triton` says that it has our metrics."""

    name: str
    url: str
    path: str
    render: Render
    pid: int
    grpc_url: str = ""
    metrics_url: str = ""
    pipeline: str = ""

    def requests(self, texts: Sequence[str]) -> list[bytes]:
        """Whole HTTP/1.1 requests, one a text."""
        return [_request(self.path, self.render(text)) for text in texts]

    def cpu_s(self) -> dict[str, float]:
        """CPU seconds that its living processes have used so far: those of each Python model, and `SERVER`'s."""
        root = psutil.Process(self.pid)
        found: dict[str, float] = {}
        for process in (root, *root.children(recursive=True)):
            times, part = process.cpu_times(), _part(process)
            found[part] = found.get(part, 0.0) + times.user + times.system
        return found

    def memory_bytes(self) -> int:
        """Memory that all its processes hold of their own."""
        root = psutil.Process(self.pid)
        return sum(process.memory_full_info().uss for process in (root, *root.children(recursive=True)))


def _part(process: psutil.Process) -> str:
    """The model whose code a process of Triton's Python backend runs."""
    command = process.cmdline()
    is_model = len(command) > 1 and command[1].endswith("/model.py")
    return Path(command[1]).parts[-3] if is_model else SERVER


def triton_target(pipeline: str, server: Triton) -> Target:
    """A pipeline served by Triton."""
    path, name = f"/v2/models/{pipeline}/infer", f"Trireme {pipeline}"
    return Target(name, server.http_url, path, triton_body, server.pid, server.grpc_url, server.metrics_url, pipeline)


def triton_body(text: str) -> bytes:
    """A KServe v2 inference of one text, as JSON."""
    tensor = {"name": "text", "shape": [1, 1], "datatype": "BYTES", "data": [text]}
    return json.dumps({"inputs": [tensor]}, ensure_ascii=False).encode()


def plain_body(text: str) -> bytes:
    """What the peers take: `{"text": ...}`."""
    return json.dumps({"text": text}, ensure_ascii=False).encode()


def _request(path: str, body: bytes) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: bench", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body
