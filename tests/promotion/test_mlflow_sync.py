"""The ledger's mirror in a real MLflow model registry, in an SQLite file."""

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import once
from tests.promotion.releases import NAME, copy_release
from trireme.promotion.ledger import Entry, Ledger
from trireme.promotion.mlflow_sync import sync_mlflow
from trireme.promotion.promoter import promoting
from trireme.promotion.registry import bring, registered, staged_last
from trireme.promotion.spec import PromotionSpec
from trireme.serving import Server


class Registry:
    """Reads what MLflow has, as a user of MLflow would."""

    def __init__(self, uri: str) -> None:
        from mlflow import MlflowClient

        self.client = MlflowClient(tracking_uri=uri, registry_uri=uri)

    def aliases(self) -> dict[str, int]:
        """The release behind each alias."""
        aliases = self.client.get_registered_model(NAME).aliases
        return {alias: int(self.client.get_model_version_by_alias(NAME, alias).tags["release"]) for alias in aliases}

    def versions(self) -> list[Any]:
        """All versions, oldest first."""
        return sorted(self.client.search_model_versions(f"name='{NAME}'"), key=lambda version: int(version.version))


@pytest.fixture(scope="session")
def empty_database(shared_folder: Path) -> Path:
    """An MLflow database without any model: its tables take seconds to make."""

    def make(path: Path) -> None:
        assert Registry(f"sqlite:///{path}").versions() == []

    return once(shared_folder / "mlflow.db", make)


@pytest.fixture
def uri(empty_database: Path, tmp_path: Path) -> str:
    """A registry of the test's own."""
    return f"sqlite:///{shutil.copy(empty_database, tmp_path / 'mlflow.db')}"


def test_aliases_follow_every_move(spec: PromotionSpec, uri: str) -> None:
    registry, seen = Registry(uri), []
    with promoting(spec) as promoter:
        for move in ("stage", "canary", "rollback", "promote", "rollback", "retire"):
            arguments = {"canary": (2, 10), "rollback": ()}.get(move, (2,))
            getattr(promoter, move)(*arguments)
            bring(registry.client, registered(spec))
            seen.append(registry.aliases())
    assert seen == [
        {"champion": 1, "challenger": 2},
        {"champion": 1, "challenger": 2},
        {"champion": 1},
        {"champion": 2},
        {"champion": 1},
        {"champion": 1},
    ]
    versions = registry.versions()
    assert [version.tags["release"] for version in versions] == ["1", "2"]
    assert [version.tags["loaded"] for version in versions] == ["true", "false"]
    assert versions[0].tags["engine"] == "onnxruntime"
    assert versions[0].tags["gate.tokens"].startswith("passed")


def test_a_command_is_not_failed_by_mlflow_and_the_next_one_catches_up(
    spec: PromotionSpec, server: Server, uri: str
) -> None:
    def stage(mlflow: str) -> str:
        command = [sys.executable, "-m", "trireme", "stage", NAME, "2", "-r", str(spec.repository)]
        environment = os.environ | {"TRIREME_MLFLOW": mlflow}
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert ended.stdout.startswith("stage done in")
        return ended.stderr

    assert "MLflow does not follow" in stage("http://127.0.0.1:9")
    assert "MLflow" not in stage(uri)
    noted = [(entry.command, entry.outcome) for entry in spec.ledger.entries()]
    assert noted == [("stage", "done"), ("mirror", "failed"), ("stage", "done"), ("mirror", "done")]
    assert Registry(uri).aliases() == {"champion": 1, "challenger": 2}


def test_an_mlflow_that_hangs_is_given_up(model_repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trireme.promotion.mlflow_sync._DEADLINE_S", 3.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        spec = PromotionSpec(NAME, model_repository, mlflow=f"http://127.0.0.1:{silent.getsockname()[1]}")
        started = time.monotonic()
        sync_mlflow(spec)
    assert time.monotonic() - started < 8
    (failed,) = spec.ledger.entries()
    assert (failed.command, failed.outcome) == ("mirror", "failed")


def test_a_registry_that_is_up_to_date_is_not_written_to(model_repository: Path, uri: str, tmp_path: Path) -> None:
    spec, registry = PromotionSpec(NAME, model_repository), Registry(uri)
    bring(registry.client, registered(spec))
    with sqlite3.connect(tmp_path / "mlflow.db") as connection:
        before = list(connection.iterdump())
        bring(registry.client, registered(spec))
        assert list(connection.iterdump()) == before
    copy_release(model_repository, 2, 3)
    bring(registry.client, registered(spec))
    assert [version.tags["release"] for version in registry.versions()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("moves", "challenger"),
    [
        ([("stage", 1, 2)], 2),
        ([("stage", 1, 2), ("promote", 1, 2)], None),
        ([("stage", 1, 2), ("stage", 1, 3), ("promote", 1, 3)], 2),
        ([("canary", 1, 2), ("rollback", 2, 1)], None),
        ([("stage", 1, 2), ("retire", 2, None)], None),
        ([("stage", 1, 2), ("shadow", 1, 2)], 2),
        ([("promote", 1, 2), ("stage", 2, 1)], 1),
    ],
)
def test_the_challenger_is_what_was_staged_last_and_not_decided_on(
    tmp_path: Path, moves: list[tuple[str, int, int | None]], challenger: int | None
) -> None:
    ledger = Ledger(tmp_path)
    for command, source, target in moves:
        ledger.append(Entry(command, source, target, "done"))
    ledger.append(Entry("stage", 1, 9, "refused"))
    assert staged_last(ledger.entries()) == challenger
