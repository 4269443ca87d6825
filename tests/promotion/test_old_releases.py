"""A repository and ledgers that the code wrote before configs said a family: served, moved and rolled back today."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contract.releases import change, publish, without_an_output
from tests.generation.written_release import manifest_of
from tests.testdata.format_1.make import WORDS
from text_runtime.manifest import parse_manifest
from trireme.client import Client
from trireme.contract.families import Identity
from trireme.contract.integrity import verify_release
from trireme.contract.repository import Repository
from trireme.errors import ContractError
from trireme.promotion.layout import Layout, Traffic
from trireme.promotion.overview import servers_of
from trireme.promotion.promoter import promoting
from trireme.promotion.spec import PromotionSpec
from trireme.serving import Server, ServerSpec, start
from trireme.serving.check import check_repository

FORMAT_1 = Path(__file__).parents[1] / "testdata" / "format_1"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A copy to change; its ledgers stand beside it."""
    shutil.copytree(FORMAT_1 / "releases", tmp_path / "releases")
    return Path(shutil.copytree(FORMAT_1 / "models", tmp_path / "models"))


@pytest.fixture
def server(models: Path) -> Iterator[Server]:
    """A Triton on that copy."""
    with start(ServerSpec(models, 0, 0, 0)) as running:
        yield running


def answering(spec: PromotionSpec, url: str) -> int | None:
    """The release that the server answers from; its words say that it really does."""
    (row,) = servers_of(spec)
    with Client(url, spec.pipeline) as client:
        (answer,) = client.classify(["质量很好"])
    assert row.answered is None or answer.label in WORDS[row.answered]
    return row.answered


def test_old_releases_are_whole_and_the_check_has_nothing_to_say(models: Path) -> None:
    repository = Repository(models)
    assert repository.pipelines() == ["chain", "joined"]
    assert {name: len(repository.steps(name)) for name in repository.pipelines()} == {"chain": 3, "joined": 1}
    for name in repository.pipelines():
        assert repository.identity(name) == Identity("encoder", "text-classification")
        for release in repository.releases(name):
            assert verify_release(repository, name, release).family == "encoder"
    assert [finding for finding in check_repository(models) if finding.status != "ok"] == []


def test_the_check_says_which_trireme_a_release_of_a_newer_format_needs(models: Path) -> None:
    path = models / "chain_encoder/3/manifest.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    (problem,) = [finding for finding in check_repository(models) if finding.status != "ok"]
    assert "format 2 is newer than format 1" in problem.found
    assert problem.remedy == "use Trireme 0.1.0 or later"


def test_old_releases_are_served_staged_promoted_and_rolled_back(models: Path, server: Server) -> None:
    spec = PromotionSpec("chain", models, (server.grpc_url,))
    assert spec.disk.layout() == Layout(frozenset({1, 2}), Traffic(2))
    assert answering(spec, server.http_url) == 2
    with promoting(spec) as promoter:
        promoter.stage(3)
        promoter.promote(3)
        assert answering(spec, server.http_url) == 3
        promoter.rollback()
        assert answering(spec, server.http_url) == 2
        promoter.rollback()  # what the old ledger says stood before
        assert answering(spec, server.http_url) == 1
    moves = [(entry.command, entry.source, entry.target, entry.outcome) for entry in spec.ledger.entries()]
    assert moves == [
        ("stage", 1, 2, "done"),
        ("promote", 1, 2, "done"),
        ("stage", 2, 3, "done"),
        ("promote", 2, 3, "done"),
        ("rollback", 3, 2, "done"),
        ("rollback", 2, 1, "done"),
    ]
    old = (FORMAT_1 / "releases/chain/ledger.jsonl").read_bytes()
    assert spec.ledger.path.read_bytes().startswith(old)


def test_a_move_that_old_code_left_half_done_in_a_canary_is_undone_first(models: Path, server: Server) -> None:
    spec = PromotionSpec("joined", models, (server.grpc_url,))
    with promoting(spec) as promoter:
        assert "undid an interrupted canary" in promoter.recovered
        assert spec.disk.layout().traffic == Traffic(1, 2, 50.0)
        promoter.promote(2)
        assert answering(spec, server.http_url) == 2
        promoter.rollback()
        assert answering(spec, server.http_url) == 1
    assert [entry.outcome for entry in spec.ledger.entries()] == ["done", "undone", "done", "done"]


def test_a_release_of_another_family_or_task_is_never_loaded(models: Path, server: Server) -> None:
    repository, spec = Repository(models), PromotionSpec("chain", models, (server.grpc_url,))
    manifest = parse_manifest((FORMAT_1 / "models/chain/3/manifest.json").read_bytes(), "chain 3")
    others = {
        "family generation": replace(manifest_of("chain", 3), files=manifest.files),
        "task text-pair-classification": replace(manifest, task="text-pair-classification"),
    }
    for words, other in others.items():
        for folder in repository.folders("chain"):
            (folder / "3" / "manifest.json").write_bytes(other.to_json())
        with promoting(spec) as promoter, pytest.raises(ContractError, match=f"{words} instead of"):
            promoter.stage(3)


def test_a_release_that_adds_an_output_is_served_beside_those_of_before(models: Path) -> None:
    repository = Repository(models)
    for model in ("chain", "chain_v1", "chain_v2", "chain_tokenizer"):
        change(repository, model, without_an_output)
    with start(ServerSpec(models, 0, 0, 0)) as server:
        spec = PromotionSpec("chain", models, (server.grpc_url,))
        assert sorted(outputs_of(server, "chain")) == ["label", "score", "scores"]
        publish(repository)
        with promoting(spec) as promoter:
            promoter.promote(4)
            assert "truncated_chars" in outputs_of(server, "chain")
            promoter.rollback()
        assert "truncated_chars" in outputs_of(server, "chain")
        assert answering(spec, server.http_url) == 2


def outputs_of(server: Server, pipeline: str) -> list[str]:
    """The names of what a pipeline gives."""
    with Client(server.http_url, pipeline) as client:
        return list(client.infer({"text": ["质量很好"]}).tensors)
