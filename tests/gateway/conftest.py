"""A gateway in front of a real Triton, as a process of its own: what a user starts and asks."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from trireme.serving import Server


@contextmanager
def gateway(*servers: str, options: tuple[str, ...] = ()) -> Iterator[httpx.Client]:
    """`trireme gateway` on a free port, until the block ends."""
    named = [word for server in servers for word in ("--server", f"grpc://{server}")]
    command = [sys.executable, "-m", "trireme", "gateway", *named, "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("ready: "), process.stderr.read() if process.stderr else line
        with httpx.Client(base_url=line.removeprefix("ready: ").strip(), timeout=120) as client:
            yield client
    finally:
        process.terminate()
        assert process.wait(40) == 0


@pytest.fixture(scope="module")
def door(served: Server) -> Iterator[httpx.Client]:
    """In front of `sentiment`."""
    with gateway(served.grpc_url) as client:
        yield client
