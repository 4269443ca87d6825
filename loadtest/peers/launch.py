"""Starts the peers that are processes of their own, waits until they answer, and ends them."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtest.bench.target import Target, plain_body
from loadtest.processes import running
from trireme.errors import ServerError
from trireme.machine.free_ports import free_ports

_READY_TIMEOUT_S = 120.0
_PATIENCE_MS = 60_000  # its own default ends requests after 3 s, which 64 at a time to a large model take
PEERS = {
    "fastapi_paddle": ("FastAPI + Paddle Inference", "/predict"),
    "fastapi_onnx": ("FastAPI + ONNX Runtime", "/predict"),
    "litserve_onnx": ("LitServe, batching", "/predict"),
    "mosec_onnx": ("Mosec, batching", "/inference"),
}


@dataclass(frozen=True)
class PeerFiles:
    """What the peers load, all made from one checkpoint."""

    checkpoint: Path
    static: Path
    onnx: Path
    tokenizer: Path
    max_length: int

    def environment(self, port: int) -> dict[str, str]:
        """The peers' settings."""
        return os.environ | {
            "PEER_CHECKPOINT": str(self.checkpoint),
            "PEER_STATIC": str(self.static),
            "PEER_ONNX": str(self.onnx),
            "PEER_TOKENIZER": str(self.tokenizer),
            "PEER_MAX_LENGTH": str(self.max_length),
            "PEER_PORT": str(port),
            "MOSEC_PORT": str(port),
            "MOSEC_ADDRESS": "127.0.0.1",
            "MOSEC_TIMEOUT": str(_PATIENCE_MS),
            "TOKENIZERS_PARALLELISM": "false",
        }


@contextmanager
def peers(files: PeerFiles) -> Iterator[list[Target]]:
    """All peers, running and answering; they end with the block."""
    with ExitStack() as stack:
        yield [stack.enter_context(_peer(module, files)) for module in PEERS]


@contextmanager
def _peer(module: str, files: PeerFiles) -> Iterator[Target]:
    name, path = PEERS[module]
    (port,) = free_ports("127.0.0.1", 1)
    command = [sys.executable, "-m", f"loadtest.peers.{module}"]
    settings = {"env": files.environment(port), "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with running(name, command, **settings) as process:
        _wait(name, process, f"http://127.0.0.1:{port}{path}")
        yield Target(name, f"127.0.0.1:{port}", path, plain_body, process.pid)


def _wait(name: str, process: "subprocess.Popen[bytes]", url: str) -> None:
    start = time.monotonic()
    while time.monotonic() - start < _READY_TIMEOUT_S:
        if process.poll() is not None:
            said = process.stderr.read().decode(errors="replace") if process.stderr else ""
            raise ServerError(name, f"ended with {process.returncode}: {said[-300:]}", "install the extra `peers`")
        try:
            request = urllib.request.Request(url, plain_body("好"), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=10) as answer:
                json.loads(answer.read())
                return
        except OSError:
            time.sleep(0.2)
    raise ServerError(name, f"not ready after {_READY_TIMEOUT_S:.0f} s", "look at its log")
