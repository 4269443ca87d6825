"""Comparing precisions: each candidate in a process of its own, one recommended, reports that stand alone."""

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from msgspec import structs

from converters.compare import CandidateRow, CompareSpec, ComparisonError, Variant, compare, recommend
from converters.compare_report import write_report
from converters.evaluation import EvaluationSpec
from converters.measure import Figures
from converters.precisions import Choice
from converters.schema import from_document, read_document, to_document
from converters.sources import Pooling, SourceOptions
from converters.spec import EncoderSpec, ExportSpec, PruningSpec, TrialSpec
from tests.conftest import CHECKPOINT, ROOT, TASK
from text_runtime.manifest import PASSED, REFUSED, EvaluationFacts
from trireme.cli.described import command_for
from trireme.client import Client
from trireme.contract.repository import Repository
from trireme.errors import UnsupportedError
from trireme.serving import ServerSpec, start

TEST_ROWS = ROOT / "examples/sentiment/test.tsv"
REVIEWS = ROOT / "examples/sentiment/reviews.txt"


def trireme(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    command = [sys.executable, "-m", "trireme", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)


def spec_of(
    evaluation: Path, calibration: Path | None = None, max_drop_points: float = 0.5, **options: object
) -> CompareSpec:
    """A comparison of the demo."""
    judge, encoder = EvaluationSpec(evaluation, max_drop_points), EncoderSpec(calibration=calibration)
    described = ExportSpec(CHECKPOINT, TASK, "winner", encoder=encoder, evaluation=judge)
    return CompareSpec(described, **options)  # type: ignore[arg-type]


@pytest.fixture
def few_rows(tmp_path: Path) -> Path:
    """The first 60 labelled reviews."""
    path = tmp_path / "few.tsv"
    path.write_text("".join(TEST_ROWS.read_text(encoding="utf-8").splitlines(keepends=True)[:61]), encoding="utf-8")
    return path


def test_the_command_recommends_a_candidate_whose_export_has_the_figures_of_the_table(
    few_rows: Path, tmp_path: Path
) -> None:
    only = ("--only", "onnxruntime fp32", "--only", "onnxruntime int8")
    result = trireme("compare", CHECKPOINT, "--evaluate", few_rows, *only, "--report", tmp_path / "report")
    assert result.returncode == 0, result.stderr
    found = json.loads((tmp_path / "report/compare.json").read_bytes())
    statuses = {row["variant"]["choice"]["method"]: row["status"] for row in found["candidates"]}
    assert statuses == {"": "passed", "dynamic": "passed", "static": "failed"}  # static has no --calibration
    assert "give --calibration FILE" in found["candidates"][2]["reason"]
    assert found["recommended"] == result.stdout.splitlines()[-1]
    written = read_document(tmp_path / "report/recommended.json")
    assert "name" not in written
    assert command_for(from_document(written | {"name": "NAME"}, ExportSpec, "")) == found["recommended"]

    options = shlex.split(found["recommended"])[2:]
    name = options.index("--name") + 1
    exported = trireme("export", *options[:name], "winner", *options[name + 1 :], "-r", tmp_path / "repository")
    assert exported.returncode == 0, exported.stderr
    manifest = Repository(tmp_path / "repository").manifest("winner", 1)
    (row,) = [r for r in found["candidates"] if r["variant"]["choice"]["method"] == manifest.encoder.method]
    assert manifest.evaluation == EvaluationFacts(**row["evaluation"])

    page = (tmp_path / "report/compare.html").read_text(encoding="utf-8")
    assert page.count('<li class="recommended strong"') == 4  # speed, size, agreement, metric
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", page)
    assert (tmp_path / "report/compare.md").read_text().count("\n") == 5


def test_a_refused_candidate_keeps_its_figures(few_rows: Path) -> None:
    (row,) = compare(spec_of(few_rows, max_drop_points=-5.0, only=("onnxruntime int4",)), lambda line: None)
    assert row.status == REFUSED
    assert re.fullmatch(
        r"metric: accuracy 0\.\d+, the source's 0\.\d+, [+-]\d\.\d+ points lost, at most -5\.0 .*", row.reason
    )
    assert row.figures is not None
    assert row.figures.texts_per_s > 0
    assert row.evaluation is not None
    assert recommend([row]) is None


def test_a_hanging_candidate_ends_with_all_its_processes_and_the_next_is_tried(few_rows: Path, tmp_path: Path) -> None:
    """A pipe that nobody writes into: reading calibration texts from it never ends."""
    os.mkfifo(tmp_path / "pipe")
    spec = spec_of(few_rows, only=("int8 static",), calibration=tmp_path / "pipe", timeout_s=4.0)
    before = set(psutil.Process().children(recursive=True))
    rows = compare(spec, lambda line: None)
    assert [row.variant.choice.engine for row in rows] == ["onnxruntime", "openvino"]
    assert {row.reason for row in rows} == {"it did not end within 4 s (--timeout)"}
    assert not set(psutil.Process().children(recursive=True)) - before


def test_what_all_candidates_share_ends_the_comparison_at_once(tmp_path: Path) -> None:
    (tmp_path / "labelled.tsv").write_text("text\tlabel\n好\tgreat\n", encoding="utf-8")
    with pytest.raises(ComparisonError, match="labels that the model does not know"):
        compare(spec_of(tmp_path / "labelled.tsv"), lambda line: None)


def row_of(method: str, texts_per_s: float, **changes: object) -> CandidateRow:
    """A measured candidate."""
    figures = Figures(1000, 0.1, 10.0, 1.0, 10.0, texts_per_s)
    facts = EvaluationFacts("accuracy", 0.8, 0.8, 0.0, 100, "")
    row = CandidateRow(Variant(Choice("e", "int8", method)), PASSED, "", figures, 1.0, facts)
    return replace(row, **changes)  # type: ignore[arg-type]


def test_the_fastest_that_passed_is_recommended() -> None:
    rows = [row_of("a", 10.0), row_of("b", 99.0, status=REFUSED), row_of("c", 20.0)]
    assert recommend(rows) == rows[2]


def test_of_those_as_fast_one_without_warnings_is_recommended() -> None:
    rows = [row_of("dynamic", 100.0, warnings=("neighbours",)), row_of("static", 97.0), row_of("slow", 50.0)]
    assert recommend(rows) == rows[1]


def test_pruned_models_are_tried_in_fp32_and_int8() -> None:
    variants = spec_of(TEST_ROWS, prunings=(PruningSpec(0.5, 2),)).variants()
    pruned = {str(variant) for variant in variants if variant.pruning}
    assert {
        "onnxruntime fp32, 50% kept",
        "onnxruntime int8 dynamic, 50% kept",
        "openvino int8 static, 50% kept",
    } <= pruned
    assert not any("weight-only" in words or "bf16" in words for words in pruned)


def test_the_report_says_how_much_of_a_pruned_candidate_was_kept(tmp_path: Path) -> None:
    rows = [row_of("static", 10.0, variant=Variant(Choice("e", "int8", "static"), PruningSpec(0.5, 2)))]
    write_report(rows, "", tmp_path)
    (found,) = json.loads((tmp_path / "compare.json").read_bytes())["candidates"]
    assert found["variant"]["pruning"] == {"share": 0.5, "recover_epochs": 2}


def test_every_candidate_is_of_all_that_an_export_may_be_told(tmp_path: Path) -> None:
    described = ExportSpec(
        Path("checkpoint"),
        "embedding",
        "vectors",
        encoder=EncoderSpec(calibration=REVIEWS),
        evaluation=EvaluationSpec(TEST_ROWS),
        options=SourceOptions("huggingface", Pooling.MEAN, Path("python"), "query"),
        max_length=32,
        long_text="window",
        labels=Path("labels.json"),
        is_normalized=True,
        corpus=Path("corpus.txt"),
    )
    spec = CompareSpec(described, only=("openvino int8 static",))
    (variant,) = spec.variants()
    exported = spec.export_of(variant)
    assert exported == structs.replace(described, encoder=EncoderSpec("openvino", "int8", "static", REVIEWS))
    trial = spec.trial_of(variant, tmp_path / "models", tmp_path)
    own = {"name": trial.name, "repository": tmp_path / "models"}
    assert structs.asdict(trial) == structs.asdict(exported) | own | {"lessons": tmp_path}
    assert from_document(to_document(trial), TrialSpec, "") == trial


def test_a_comparison_without_labelled_texts_or_for_a_gpu_is_refused() -> None:
    with pytest.raises(ComparisonError, match="give them with --evaluate"):
        CompareSpec(ExportSpec(CHECKPOINT, TASK, "x"))
    with pytest.raises(UnsupportedError, match="--target of a comparison"):
        CompareSpec(
            ExportSpec(CHECKPOINT, TASK, "x", encoder=EncoderSpec(target="gpu"), evaluation=EvaluationSpec(TEST_ROWS))
        )


@pytest.mark.drill
@pytest.mark.timeout(1800)
def test_the_winner_of_all_candidates_serves_with_the_accuracy_of_the_table(
    tmp_path: Path, test_rows: list[tuple[str, str]]
) -> None:
    rows = compare(spec_of(TEST_ROWS, calibration=REVIEWS), lambda line: None)
    assert sum(row.status == PASSED for row in rows) >= 6
    best = recommend(rows)
    assert best is not None
    assert best.evaluation is not None
    command = command_for(spec_of(TEST_ROWS, calibration=REVIEWS).export_of(best.variant))
    assert trireme(*shlex.split(command)[1:], "-r", tmp_path / "repository").returncode == 0
    with (
        start(ServerSpec(tmp_path / "repository", 0, 0, 0)) as server,
        Client(f"grpc://{server.grpc_url}", "winner") as client,
    ):
        answers = client.classify([text for text, _ in test_rows])
    right = sum(answer.label == label for answer, (_, label) in zip(answers, test_rows, strict=True))
    assert right / len(test_rows) == pytest.approx(best.evaluation.value, abs=1e-9)
