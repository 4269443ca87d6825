"""Moves of a pipeline on one real Triton."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.promotion.drill import drill
from tests.promotion.load import Load, goldens_of
from tests.promotion.releases import NAME, WORDS, copy_release, sign
from trireme.admin import Endpoint
from trireme.errors import BusyError, IntegrityError, PromotionError, TriremeError
from trireme.promotion.fleet import Fleet
from trireme.promotion.layout import Layout, Traffic
from trireme.promotion.overview import servers_of
from trireme.promotion.promoter import promoting
from trireme.promotion.replica import Replica
from trireme.promotion.shadow import shadow_live, shadow_recorded
from trireme.promotion.spec import PromotionSpec
from trireme.serving import Server, ServerSpec, start


def answering(spec: PromotionSpec) -> int | None:
    """The release that the server answers from."""
    (row,) = servers_of(spec)
    return row.answered


def label_of(control: Replica) -> str:
    """The label of a small text."""
    return str(control.infer(NAME, {"text": ["好"]}).outputs["label"][0, 0].decode())


@pytest.mark.parametrize("repository", ["model_repository", "joined_repository"])
def test_no_request_is_lost_or_answered_by_a_mixture_through_all_moves(
    request: pytest.FixtureRequest, repository: str
) -> None:
    report = drill(request.getfixturevalue(repository), seconds=9, clients=8)
    assert report.load.failures == []
    assert {answer.release for answer in report.load.answers} == {1, 2}
    last = report.spans[-1]
    assert {answer.release for answer in report.load.between(last.start, last.end)} == {2}
    assert next(span for span in report.spans if span.name == "rollback").took_s < 1


def break_bytes(root: Path) -> None:
    path = root / f"{NAME}_encoder/3/model.onnx"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def break_tokenizer(root: Path) -> None:
    path = root / f"{NAME}_tokenizer/3/tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = {word: (index + 7) % len(vocabulary) for word, index in vocabulary.items()}
    path.write_text(json.dumps(tokenizer), encoding="utf-8")
    sign(root, 3)


def break_labels(root: Path) -> None:
    (root / f"{NAME}_postprocess/3/labels.json").unlink()
    sign(root, 3)


def break_engine(root: Path) -> None:
    (root / f"{NAME}_encoder/3/model.onnx").write_bytes(b"not a model")
    sign(root, 3)


def break_answers(root: Path) -> None:
    path = root / f"{NAME}_encoder/3/model.onnx"
    path.write_bytes((root / f"{NAME}_encoder/1/model.onnx").read_bytes())
    sign(root, 3)


def test_a_broken_release_is_refused_at_stage_and_the_current_one_is_undisturbed(
    model_repository: Path, server: Server, spec: PromotionSpec
) -> None:
    before, refusals = spec.disk.layout(), []
    with Load([server.http_url], [server.grpc_url], goldens_of(model_repository), 4, 4) as load:
        for breaks in (break_bytes, break_tokenizer, break_labels, break_engine, break_answers):
            for folder in spec.disk.repository.folders(NAME):
                subprocess.run(["rm", "-rf", str(folder / "3")], check=True)
            copy_release(model_repository, 2, 3)
            breaks(model_repository)
            with promoting(spec) as promoter, pytest.raises(TriremeError) as refusal:
                promoter.stage(3)
            refusals.append(str(refusal.value))
            assert spec.disk.layout() == before
    assert load.failures == []
    assert {answer.release for answer in load.answers} == {1}
    for refusal_text, named in zip(
        refusals, ("model.onnx was changed", "golden", "labels", "_encoder", "golden"), strict=True
    ):
        assert named in refusal_text
    assert [entry.outcome for entry in spec.ledger.entries()] == ["refused", "undone", "undone", "undone", "undone"]


def test_a_canary_survives_a_restart_of_the_server(model_repository: Path, spec: PromotionSpec, server: Server) -> None:
    with promoting(spec) as promoter:
        promoter.canary(2, 50)
    server.stop()
    with start(ServerSpec(model_repository, 0, 0, 0)) as again:
        control = Replica(Endpoint(again.grpc_url, "", ""))
        assert {label_of(control) in WORDS[2] for _ in range(60)} == {True, False}
        with promoting(PromotionSpec(NAME, model_repository, (again.grpc_url,))) as promoter:
            promoter.rollback()
            assert {label_of(control) in WORDS[1] for _ in range(20)} == {True}


def test_a_rollback_takes_back_the_last_promotion_and_a_retired_release_is_gone(spec: PromotionSpec) -> None:
    with promoting(spec) as promoter:
        promoter.promote(2)
        assert answering(spec) == 2
        with pytest.raises(PromotionError, match="answers requests"):
            promoter.retire(2)
        promoter.rollback()
        assert answering(spec) == 1
        with pytest.raises(PromotionError, match="no release before"):
            promoter.rollback()
        promoter.retire(2)
    assert spec.disk.layout() == Layout(frozenset({1}), Traffic(1))
    (row,) = servers_of(spec)
    assert row.loaded == {1}


def test_two_commands_on_one_pipeline_exclude_each_other(spec: PromotionSpec) -> None:
    with promoting(spec), pytest.raises(BusyError), promoting(spec):
        pass


def test_control_stays_shut_without_the_token(server: Server) -> None:
    with Fleet([Endpoint(server.grpc_url, "", "wrong")]) as fleet, pytest.raises(TriremeError, match="closed to you"):
        fleet.each(lambda control: control.ready_versions(NAME))


def test_a_changed_byte_is_found_when_a_server_starts(model_repository: Path) -> None:
    path = model_repository / f"{NAME}_postprocess/1/labels.json"
    path.write_bytes(path.read_bytes().replace(b"positive", b"Positive"))
    with pytest.raises(IntegrityError, match=r"labels\.json was changed"):
        ServerSpec(model_repository, 0, 0, 0)


def test_shadowing_compares_recorded_and_real_texts(server: Server, spec: PromotionSpec) -> None:
    with promoting(spec) as promoter:
        promoter.stage(2)
    recorded = shadow_recorded(spec, 2, seconds=0.5, rows=[{"text": "好"}, {"text": "不好"}])
    assert recorded.texts > 10
    assert recorded.compared.texts == recorded.texts
    assert recorded.agreement == 0  # the two releases use different words
    with pytest.raises(TriremeError, match="input 'text_pair': text-classification takes none; give rows of text"):
        shadow_recorded(spec, 2, seconds=0.5, rows=[{"text": "好", "text_pair": "不好"}])
    with Load([server.http_url], [server.grpc_url], goldens_of(spec.repository), 4, 4) as load:
        live = shadow_live(spec, 2, seconds=1)
    assert {answer.release for answer in load.answers} == {1}
    assert live.texts > 20
    assert live.agreement == 0
    assert spec.disk.layout().traffic == Traffic(1)


def test_the_command_line_moves_and_tells(model_repository: Path, server: Server) -> None:
    def trireme(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "trireme", *arguments, "--repository", str(model_repository)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=None)

    dry = trireme("promote", NAME, "2", "--dry-run")
    assert "switch 'demo' from release 1 to release 2" in dry.stdout
    assert trireme("promote", NAME, "2").stdout.startswith("promote done in")
    assert "release 2" in trireme("status", NAME).stdout
    assert "current" in trireme("releases", NAME).stdout
    assert "promote" in trireme("history", NAME).stdout
    refused = trireme("stage", NAME, "9")
    assert refused.returncode == 1
    assert "there is no such release" in refused.stderr


def test_a_server_that_is_down_is_named(model_repository: Path) -> None:
    spec = PromotionSpec(NAME, model_repository, ("127.0.0.1:9",))
    with promoting(spec) as promoter, pytest.raises(TriremeError, match="does not answer"):
        promoter.stage(2)
    assert spec.disk.layout() == Layout(frozenset({1}), Traffic(1))
