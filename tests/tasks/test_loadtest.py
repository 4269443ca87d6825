"""Locust against the real pipelines of every task, without a browser."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from trireme.serving import Server

pytestmark = pytest.mark.xdist_group("tasks")


@pytest.mark.parametrize("pipeline", ["topics", "pairs", "rerank", "ner", "embed", "uie"])
def test_users_of_every_task_find_no_fault(
    tasks_server: Server, tmp_path: Path, texts: list[str], pipeline: str
) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(" ".join(text.split()) for text in texts), encoding="utf-8")
    command = [sys.executable, "-m", "loadtest", pipeline, "--url", tasks_server.http_url]
    command += ["--grpc", tasks_server.grpc_url, "--seconds=2", "--users=4", "--rows=3"]
    command += [f"--corpus={tmp_path / 'texts.txt'}", f"--json={tmp_path / 'report.json'}"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (finished.returncode, finished.stderr) == (0, ""), finished.stdout
    rows = json.loads((tmp_path / "report.json").read_bytes())["rows"]
    assert [row["protocol"] for row in rows] == ["http", "grpc"]
    assert all(row["requests"] > 10 for row in rows)
