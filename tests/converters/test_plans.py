"""Everything of `trireme build-plan` up to TensorRT itself, and its gates on a real graph in ONNX Runtime."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from converters.plans import PlanSpec, build_plan
from converters.plans.build import publish
from converters.plans.parity import Feeds, Parity, RunPlan
from converters.plans.rows import Rows, rows_by_bucket
from converters.plans.tensorrt_builder import open_graph, profiles_for
from converters.precisions import Choice, Recipe
from converters.precisions import build as build_precision
from text_runtime.machine import MachineError, read_machine
from text_runtime.manifest import EncoderManifest
from text_runtime.plan import FACTS_NAME, PLAN_NAME, profiles_of, read_plan_facts
from trireme.cli.app import app
from trireme.contract.pipelines import MAX_BATCH_SIZE, Step
from trireme.contract.plans import require_plan
from trireme.contract.repository import Repository
from trireme.errors import GateError, IntegrityError, PlanError, RepositoryError

HAS_TENSORRT = importlib.util.find_spec("tensorrt") is not None


def has_gpu() -> bool:
    """Whether this machine can build and run plans."""
    try:
        read_machine()
    except MachineError:
        return False
    return HAS_TENSORRT


@pytest.fixture
def models(gpu_repository: Path, tmp_path: Path) -> Path:
    """A copy of the repository with a release of target gpu."""
    shutil.copytree(gpu_repository, tmp_path / "models")
    return tmp_path / "models"


@pytest.fixture(scope="module")
def manifest(gpu_repository: Path) -> EncoderManifest:
    """The release's manifest."""
    return Repository(gpu_repository).manifest("sentiment", 1)


@pytest.fixture(scope="module")
def rows(gpu_repository: Path, manifest: EncoderManifest) -> Rows:
    """Rows for each bucket."""
    return rows_by_bucket(gpu_repository / "sentiment_tokenizer" / "1", manifest, None)


@pytest.fixture(scope="module")
def graph(gpu_repository: Path) -> Path:
    """The release's graph."""
    return gpu_repository / "sentiment_encoder" / "1" / "model.onnx"


def as_plan(path: Path) -> RunPlan:
    """A graph run by ONNX Runtime where a plan would be run by TensorRT; profiles are TensorRT's own."""
    run = open_graph(path)
    return lambda profile, feeds: run(feeds)


def parity(manifest: EncoderManifest, rows: Rows) -> Parity:
    """The gates over all buckets."""
    return Parity(manifest, profiles_of(manifest.tokenizer.buckets, MAX_BATCH_SIZE), rows)


def test_profiles_cover_every_bucket_from_one_row_to_a_full_batch(manifest: EncoderManifest) -> None:
    found = profiles_for(manifest, profiles_of(manifest.tokenizer.buckets, MAX_BATCH_SIZE))
    for profile, bucket in zip(found, manifest.tokenizer.buckets, strict=True):
        assert set(profile) == set(manifest.encoder.inputs)
        for shapes in profile.values():
            assert tuple(shapes.min) == (1, bucket)
            assert tuple(shapes.max) == (MAX_BATCH_SIZE, bucket)
            assert 1 < shapes.opt[0] < MAX_BATCH_SIZE


def test_every_bucket_has_rows_of_its_length(rows: Rows, manifest: EncoderManifest) -> None:
    shorter = 0
    for bucket, found in rows.items():
        assert found
        assert all(shorter < len(ids) <= bucket for ids in found)
        shorter = bucket
    assert tuple(rows) == manifest.tokenizer.buckets


def test_a_plan_that_answers_as_its_graph_passes_all_gates(manifest: EncoderManifest, rows: Rows, graph: Path) -> None:
    found = list(parity(manifest, rows).judge(as_plan(graph), open_graph(graph)))
    assert [(row.gate, row.status) for row in found] == [
        ("finite", "passed"),
        ("parity", "passed"),
        ("agreement", "passed"),
    ]
    assert found[2].detail.startswith("100.00% of")


def test_a_plan_that_rounds_more_than_its_precision_explains_is_refused_with_the_figures(
    manifest: EncoderManifest, rows: Rows, graph: Path, tmp_path: Path
) -> None:
    build_precision(Choice("onnxruntime", "int8", "dynamic"), Recipe("int8", graph, tmp_path, manifest.encoder.inputs))
    with pytest.raises(GateError, match=r"'parity'.*differs from ONNX Runtime by \d.*, 0.0001 is allowed"):
        list(parity(manifest, rows).judge(as_plan(tmp_path / "model.onnx"), open_graph(graph)))


def test_a_plan_that_overflows_for_one_bucket_is_refused(manifest: EncoderManifest, rows: Rows, graph: Path) -> None:
    run = open_graph(graph)

    def overflowing(profile: int, feeds: Feeds) -> npt.NDArray[Any]:
        return run(feeds) + (np.inf if profile == 2 else 0)

    with pytest.raises(GateError, match="NaN or infinity for rows of 128 tokens"):
        list(parity(manifest, rows).judge(overflowing, run))


def test_a_plan_that_answers_the_neighbours_row_is_refused(manifest: EncoderManifest, rows: Rows, graph: Path) -> None:
    run = open_graph(graph)
    with pytest.raises(GateError, match="'parity'"):
        list(parity(manifest, rows).judge(lambda _, feeds: np.roll(run(feeds), 1, axis=0), run))


@pytest.mark.skipif(HAS_TENSORRT, reason="TensorRT is installed here")
def test_without_tensorrt_the_command_fails_in_one_line_and_leaves_nothing(models: Path) -> None:
    before = sorted(models.rglob("*"))
    command = [sys.executable, "-m", "trireme", "build-plan", "sentiment", "1", "--repository", str(models)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert "TensorRT is not installed here" in lines[0]
    assert "docs/gpu.md" in lines[0]
    assert sorted(models.rglob("*")) == before


def test_a_release_of_target_cpu_is_refused(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="runs on onnxruntime, not from a plan; export it with --target gpu"):
        build_plan(PlanSpec(repository, "sentiment", 1, tmp_path / "timings"))


def test_a_release_that_is_not_there_is_refused(models: Path, tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="no such release; releases on disk: 1"):
        build_plan(PlanSpec(models, "sentiment", 7, tmp_path / "timings"))


def test_a_changed_graph_is_refused_before_anything_is_built(models: Path, tmp_path: Path) -> None:
    with (models / "sentiment_encoder" / "1" / "model.onnx").open("ab") as stream:
        stream.write(b"\0")
    with pytest.raises(IntegrityError, match=r"model\.onnx was changed"):
        build_plan(PlanSpec(models, "sentiment", 1, tmp_path / "timings"))


def test_a_workspace_of_nothing_is_a_usage_error() -> None:
    result = CliRunner().invoke(app, ["build-plan", "sentiment", "1", "--workspace-gib", "0"])
    assert result.exit_code == 2


def test_a_plan_takes_the_place_of_the_one_before_its_facts_last(tmp_path: Path) -> None:
    built, release = tmp_path / "built", tmp_path / "1"
    for folder, content in ((built, b"new"), (release, b"old")):
        folder.mkdir()
        for name in (PLAN_NAME, FACTS_NAME):
            (folder / name).write_bytes(content)
    publish(built, release)
    assert {path.name: path.read_bytes() for path in release.iterdir()} == {PLAN_NAME: b"new", FACTS_NAME: b"new"}
    assert not list(built.iterdir())


@pytest.mark.gpu
@pytest.mark.skipif(not has_gpu(), reason="needs an NVIDIA GPU and TensorRT")
def test_a_plan_is_built_judged_and_may_serve_here(models: Path, tmp_path: Path) -> None:
    spoken: list[str] = []
    facts = build_plan(PlanSpec(models, "sentiment", 1, tmp_path / "timings"), spoken.append)
    release = Repository(models).step_folder("sentiment", Step.ENCODER) / "1"
    assert read_plan_facts(release) == facts
    assert [gate.gate for gate in facts.gates] == ["finite", "parity", "agreement"]
    require_plan(Repository(models), "sentiment", 1)
    assert (tmp_path / "timings").stat().st_size
    assert any(line.startswith("TensorRT: ") for line in spoken)
