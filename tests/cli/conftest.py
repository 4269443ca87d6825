"""Runs the command line in the test's own process."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from trireme.cli import app as cli

Run = Callable[..., SimpleNamespace]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs the command line in this process, in a folder of its own; what it does not catch fails the test."""
    monkeypatch.setenv("TRIREME_REPOSITORY", str(tmp_path / "models"))
    (tmp_path / "broken.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", ["trireme", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return SimpleNamespace(code=ended.value.code or 0, stdout=printed.out, stderr=printed.err)

    return call
