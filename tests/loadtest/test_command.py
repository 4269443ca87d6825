"""`python -m loadtest` and `locust -f` against a real Triton, over real HTTP and gRPC."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.container import ROOT, Container

pytestmark = pytest.mark.xdist_group("loadtest")


def _load(served: Container, *arguments: str) -> subprocess.CompletedProcess[str]:
    addresses = [f"--url=127.0.0.1:{served.ports.http}", f"--grpc=127.0.0.1:{served.ports.grpc}"]
    command = [sys.executable, "-m", "loadtest", *arguments, *addresses, "--seconds=2", "--users=4"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def _report(path: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(path.read_bytes())
    return report


def test_a_good_pipeline_passes_on_both_protocols(served: Container, corpus: Path, tmp_path: Path) -> None:
    finished = _load(served, "parity", f"--corpus={corpus}", "--rows=3", f"--json={tmp_path / 'report.json'}")
    assert (finished.returncode, finished.stderr) == (0, "")
    report = _report(tmp_path / "report.json")
    assert report["is_passed"] is True
    assert [row["protocol"] for row in report["rows"]] == ["http", "grpc"]
    for row in report["rows"]:
        assert row["requests"] > 50
        assert row["rows_per_s"] == pytest.approx(3 * row["requests_per_s"])
        assert 0 < row["latency_ms"]["p50"] <= row["latency_ms"]["p99"] <= row["latency_ms"]["max"] + 1


@pytest.mark.parametrize(
    ("pipeline", "fault"),
    [
        ("wrong_sum", "scores do not sum to 1"),
        ("swapped", "label does not belong to the best score"),
        ("fickle", "the same text got another label"),
        ("refusing", "refused on purpose"),
    ],
)
def test_a_wrong_or_failed_answer_fails_the_run(
    served: Container, corpus: Path, tmp_path: Path, pipeline: str, fault: str
) -> None:
    finished = _load(served, pipeline, f"--corpus={corpus}", f"--json={tmp_path / 'report.json'}")
    assert finished.returncode == 1
    failures = _report(tmp_path / "report.json")["failures"]
    assert {failure["protocol"] for failure in failures if fault in failure["fault"]} == {"http", "grpc"}
    assert "failures" in finished.stdout


def test_one_protocol_can_be_left_alone(served: Container, corpus: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "loadtest", "parity", "--url=", f"--grpc=127.0.0.1:{served.ports.grpc}"]
    command += ["--seconds=1", "--users=2", f"--corpus={corpus}", f"--json={tmp_path / 'report.json'}"]
    subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert [row["protocol"] for row in _report(tmp_path / "report.json")["rows"]] == ["grpc"]


def test_an_unknown_pipeline_is_refused_before_any_load(served: Container, corpus: Path) -> None:
    finished = _load(served, "nobody", f"--corpus={corpus}")
    assert finished.returncode == 1
    assert finished.stderr.startswith("error: pipeline 'nobody' on 127.0.0.1:")
    assert "Traceback" not in finished.stderr


def test_the_locustfile_runs_under_locusts_own_command(served: Container, corpus: Path) -> None:
    command = [sys.executable, "-m", "locust", "-f", "loadtest/locustfile.py", "--headless", "-u", "2", "-t", "2s"]
    command += ["--pipeline=parity", f"--http=127.0.0.1:{served.ports.http}", "--only-summary"]
    command += [f"--grpc=127.0.0.1:{served.ports.grpc}", f"--corpus={corpus}"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert finished.returncode == 0, finished.stderr
    for protocol in ("http", "grpc"):
        assert any(line.split()[:2] == [protocol, "parity"] for line in finished.stderr.splitlines())
