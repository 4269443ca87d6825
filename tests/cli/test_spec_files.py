"""Spec files: what is written is what is read, options win over them, and what they get wrong is named in one line."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from converters.evaluation import EvaluationSpec
from converters.schema import from_document, read_document, to_document, write_document
from converters.sources import Pooling, SourceOptions
from converters.spec import EncoderSpec, ExportSpec, PruningSpec
from tests.cli.conftest import Run
from tests.conftest import CHECKPOINT, TASK
from trireme.cli.described import command_for
from trireme.contract.repository import Repository
from trireme.errors import TriremeError

DEMO: dict[str, Any] = {"checkpoint": str(CHECKPOINT), "task": TASK, "name": "sentiment"}
WHOLE = ExportSpec(
    Path("a folder/checkpoint"),
    "embedding",
    "vectors",
    Path("models"),
    EncoderSpec("openvino", "int8", "static", Path("texts.txt")),
    EvaluationSpec(Path("pairs.tsv"), 1.5),
    PruningSpec(0.75, 2),
    SourceOptions("huggingface", Pooling.MEAN, Path("/usr/bin/python3"), "query"),
    max_length=128,
    long_text="window",
    labels=Path("labels.json"),
    is_normalized=False,
    corpus=Path("corpus.txt"),
    instances=2,
)
PLAIN = ExportSpec(CHECKPOINT, TASK, "sentiment")
SPECS = {"everything": WHOLE, "nothing but what must be": PLAIN}


def written(folder: Path, **changes: Any) -> Path:
    """A spec file of the demo."""
    path = folder / "spec.json"
    path.write_text(json.dumps(DEMO | changes), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """No variable stands for an option here."""
    monkeypatch.delenv("TRIREME_REPOSITORY")
    monkeypatch.delenv("TRIREME_HF_PYTHON", raising=False)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_a_spec_comes_back_from_its_file_as_it_was(spec: ExportSpec, tmp_path: Path) -> None:
    write_document(to_document(spec), tmp_path / "spec.json")
    assert from_document(read_document(tmp_path / "spec.json"), ExportSpec, "spec") == spec


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_command_of_a_spec_asks_for_the_same(run: Run, spec: ExportSpec, tmp_path: Path) -> None:
    written = run(*shlex.split(command_for(spec))[1:], "--write-spec", str(tmp_path / "spec.json"))
    assert written.code == 0, written.stderr
    assert written.stdout.strip() == command_for(spec)
    assert from_document(read_document(tmp_path / "spec.json"), ExportSpec, "spec") == spec


def test_options_win_over_the_file(run: Run, tmp_path: Path) -> None:
    path = written(
        tmp_path, encoder={"engine": "openvino", "precision": "int8"}, max_length=64, source={"kind": "onnx"}
    )
    options = ("--precision", "int4", "--max-length", "32", "--pooling", "cls")
    result = run("export", "--from", str(path), *options, "--write-spec", str(tmp_path / "changed.json"))
    assert result.code == 0, result.stderr
    assert json.loads((tmp_path / "changed.json").read_bytes()) == DEMO | {
        "encoder": {"engine": "openvino", "precision": "int4"},
        "max_length": 32,
        "source": {"kind": "onnx", "pooling": "cls"},
    }


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown field": ({"engine": "openvino"}, "Object contains unknown field `engine`"),
    "unknown field within": ({"encoder": {"motor": "v8"}}, "encoder: Object contains unknown field `motor`"),
    "trial": ({"lessons": "folder"}, "Object contains unknown field `lessons`"),
    "text for a number": ({"max_length": "long"}, "max_length: Expected `int | null`, got `str`"),
    "number out of range": ({"max_length": 0}, "max_length: Expected `int` >= 1"),
    "number for a path": ({"evaluation": {"path": 5}}, "evaluation.path: Expected a path, got 5"),
    "list for a part": ({"encoder": []}, "encoder: Expected `object`, got `array`"),
    "unknown word": ({"source": {"pooling": "median"}}, "source.pooling: Invalid enum value 'median'"),
    "unknown task": ({"task": "ner"}, "task 'ner' is not supported; choose one of: embedding"),
    "unknown way": ({"long_text": "forget"}, "--long-text 'forget' is not supported; choose one of: truncate, window"),
    "unknown precision": ({"encoder": {"precision": "fp31"}}, "precision of onnxruntime 'fp31' is not supported"),
}


@pytest.mark.parametrize(("changes", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_file_is_named_in_one_line(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = written(tmp_path, **changes)
    with pytest.raises(TriremeError) as refusal:
        from_document(read_document(path), ExportSpec, f"spec {path}")
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


FILES = {"missing": (None, "No such file"), "no JSON": ("name: x", "JSON is malformed"), "a list": ("[]", "Expected")}


@pytest.mark.parametrize(("content", "words"), FILES.values(), ids=FILES)
def test_a_file_that_is_no_spec_is_refused_by_its_name(
    run: Run, content: str | None, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    result = run("export", "--from", str(path))
    assert (result.code, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"error: spec {path}: ")
    assert words in line


def test_what_neither_file_nor_options_say_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({"checkpoint": "x", "evaluation": {"max_drop_points": 1}}), encoding="utf-8")
    result = run("export", "--from", str(path), "--name", "x")
    assert result.code == 2
    assert "give --task, --evaluate, or a spec file" in " ".join(result.stderr.split())


def test_a_comparison_takes_the_same_file(run: Run, tmp_path: Path) -> None:
    without = run("compare", "--from", str(written(tmp_path)))
    assert without.code == 2
    assert "give --evaluate, or a spec file" in " ".join(without.stderr.split())
    for_gpu = written(tmp_path, encoder={"target": "gpu"}, evaluation={"path": "labelled.tsv"})
    refused = run("compare", "--from", str(for_gpu))
    assert refused.code == 1
    assert refused.stderr == "error: --target of a comparison 'gpu' is not supported; choose one of: cpu\n"


def test_an_export_from_a_file_is_published(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, repository=str(tmp_path / "models"), max_length=32)
    result = run("export", "--from", str(path), "--name", "short")
    assert result.code == 0, result.stderr
    assert Repository(tmp_path / "models").manifest("short", 1).tokenizer.max_length == 32
    assert Repository(tmp_path / "models").pipelines() == ["short"]
