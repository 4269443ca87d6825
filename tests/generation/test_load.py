"""The load test of a pipeline that writes: it tells how answers come, and what goes wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generation.running import running_sequences
from tests.waiting import until
from trireme.serving import Server

pytestmark = pytest.mark.xdist_group("generation")


def test_it_tells_tokens_a_second_and_the_waits_between_them(writer: Server, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    addresses = ["--url", writer.http_url, "--grpc", writer.grpc_url]
    load = ["--users", "4", "--seconds", "5", "--max-tokens", "16", "--timeout", "60", "--json", str(report)]
    ended = subprocess.run(
        [sys.executable, "-m", "loadtest", "writer", *addresses, *load], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "tokens/s" in ended.stdout
    for row in json.loads(report.read_text())["rows"]:
        assert row["requests"] > 0
        assert row["writing"]["tokens_per_s"] > 1
        assert 0 < row["writing"]["between_tokens_ms"]["p50"] < row["writing"]["first_token_ms"]["p99"] + 1000
    until(lambda: running_sequences(writer) == 0, 5)
