"""Locust against the demo, served here: HTTP and gRPC users send real reviews and check every answer."""

import logging
import subprocess
import sys

from examples.sentiment.demo import PIPELINE, REPOSITORY, ensure_release
from trireme.serving import ServerSpec, start

_SECONDS = 20


def main() -> int:
    """Serve, load, stop; gives the load test's exit code."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    ensure_release()
    with start(ServerSpec(REPOSITORY, 0, 0, 0, pipelines=(PIPELINE,))) as server:
        addresses = ["--url", server.http_url, "--grpc", server.grpc_url]
        command = [sys.executable, "-m", "loadtest", PIPELINE, *addresses, "--seconds", str(_SECONDS)]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
