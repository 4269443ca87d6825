"""Hugging Face folders as their own library reads them: shards, pickles, read-only folders, and what is refused."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from safetensors.numpy import load_file, save_file

from converters.export import ExportSpec, export
from converters.sources import Pooling, SourceOptions, open_source
from converters.sources.checkpoint import INDEX
from tests.conftest import TASK
from tests.huggingface.checkpoints import write_hugging_face
from text_runtime.tokenizers.tokenizer import TextTokenizer
from trireme.errors import CheckpointError, InterpreterError

pytestmark = [pytest.mark.xdist_group("huggingface"), pytest.mark.timeout(600)]


def write_pickle(python: Path | None, safetensors: Path, path: Path) -> None:
    """The same weights as torch pickles them."""
    code = "import sys, torch; from safetensors.torch import load_file; torch.save(load_file(sys.argv[1]), sys.argv[2])"
    subprocess.run([str(python), "-c", code, str(safetensors), str(path)], check=True)


def write_malice(path: Path, mark: Path) -> None:
    """A pickle that writes a file when it is loaded."""

    class Malice:
        def __reduce__(self) -> tuple[Any, ...]:
            return open, (str(mark), "w")

    path.write_bytes(pickle.dumps({"classifier.weight": Malice()}))


def cut_into_shards(folder: Path) -> None:
    """Two shards and their index in place of `model.safetensors`."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    shards = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, part in shards.items():
        save_file({name: tensors[name] for name in part}, folder / file, {"format": "pt"})
    size = sum(tensor.nbytes for tensor in tensors.values())
    places = {name: file for file, part in shards.items() for name in part}
    (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": size}, "weight_map": places}))


def test_shards_are_the_same_model_as_one_file(original: Path, folder: Path, options: SourceOptions) -> None:
    cut_into_shards(folder)
    row = {"input_ids": np.array([[2, 40, 50, 3]]), "token_type_ids": np.zeros((1, 4), dtype=np.int64)}
    whole, parts = open_source(original, TASK, options), open_source(folder, TASK, options)
    assert parts.facts.kind == "huggingface"
    np.testing.assert_allclose(parts.forward(row), whole.forward(row), atol=1e-6)


def test_a_lost_shard_is_named(folder: Path, options: SourceOptions) -> None:
    cut_into_shards(folder)
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(CheckpointError, match="lacks model-00002-of-00002.safetensors, which"):
        open_source(folder, TASK, options)


def test_a_shard_cut_short_is_named(folder: Path, options: SourceOptions) -> None:
    cut_into_shards(folder)
    shard = folder / "model-00002-of-00002.safetensors"
    shard.write_bytes(shard.read_bytes()[:-4])
    with pytest.raises(CheckpointError, match="model-00002-of-00002.safetensors is cut short"):
        open_source(folder, TASK, options)


def test_a_read_only_folder_is_exported_and_stays_as_it_was(
    folder: Path, tmp_path: Path, options: SourceOptions
) -> None:
    """Its files' times too: the superuser could write whatever the permissions say."""
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    times = os.stat(folder)
    assert export(ExportSpec(folder, TASK, "x", tmp_path / "repository", options=options)).release == 1
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before
    assert os.stat(folder).st_mtime_ns == times.st_mtime_ns


def test_a_pickle_of_weights_is_read_and_one_with_code_in_it_is_refused_unrun(
    original: Path, folder: Path, options: SourceOptions, tmp_path: Path
) -> None:
    """A pickle may hold any call; only `weights_only` keeps it from being made."""
    (folder / "model.safetensors").unlink()
    write_pickle(options.python, original / "model.safetensors", folder / "pytorch_model.bin")
    row = {"input_ids": np.array([[2, 40, 50, 3]]), "token_type_ids": np.zeros((1, 4), dtype=np.int64)}
    whole, pickled = open_source(original, TASK, options), open_source(folder, TASK, options)
    np.testing.assert_allclose(pickled.forward(row), whole.forward(row), atol=1e-6)
    write_malice(folder / "pytorch_model.bin", tmp_path / "was-here")
    with pytest.raises(CheckpointError, match="weights do not load"):
        open_source(folder, TASK, options)
    assert not (tmp_path / "was-here").exists()


def test_truncated_safetensors_are_refused(folder: Path, options: SourceOptions) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:20_000])
    with pytest.raises(CheckpointError, match="cut short"):
        open_source(folder, TASK, options)


def test_an_embedding_checkpoint_that_does_not_say_how_to_pool_needs_the_option(
    tmp_path: Path, options: SourceOptions
) -> None:
    folder = write_hugging_face(tmp_path / "bert", "BertModel")
    with pytest.raises(CheckpointError, match="--pooling"):
        open_source(folder, "embedding", options)
    assert open_source(folder, "embedding", replace(options, pooling=Pooling.CLS)).width == 32


def test_the_side_on_which_a_text_is_cut_is_kept(folder: Path, options: SourceOptions, tmp_path: Path) -> None:
    (folder / "tokenizer_config.json").write_text('{"truncation_side": "left"}')
    manifest = export(ExportSpec(folder, TASK, "x", tmp_path / "repository", options=options, max_length=8))
    assert manifest.tokenizer.truncation_side == "left"
    step = tmp_path / "repository" / "x_tokenizer" / "1"
    (row,) = TextTokenizer(step, manifest.tokenizer).encode(["1 2 3 4 5 6 7 8 9"])
    words = (folder / "vocab.txt").read_text().splitlines()
    assert [words[token] for token in row.ids] == ["[CLS]", "4", "5", "6", "7", "8", "9", "[SEP]"]
    assert row.truncated_chars == len("1 2 3 ")


def test_code_of_the_folders_own_is_never_run(folder: Path, options: SourceOptions, tmp_path: Path) -> None:
    config = json.loads((folder / "config.json").read_text()) | {
        "model_type": "mine",
        "auto_map": {"AutoConfig": "mine.Config", "AutoModelForSequenceClassification": "mine.Model"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "mine.py").write_text(f"open({str(tmp_path / 'was-here')!r}, 'w')")
    with pytest.raises(CheckpointError, match="code of its own .*which is never run"):
        open_source(folder, TASK, options)
    assert not (tmp_path / "was-here").exists()


def test_a_weight_that_nothing_uses_and_one_that_is_not_there_are_named(folder: Path, options: SourceOptions) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file(
        tensors | {"adapter.weight": tensors["classifier.weight"]}, folder / "model.safetensors", {"format": "pt"}
    )
    with pytest.raises(
        CheckpointError, match="are not used by BertForSequenceClassification, adapter.weight the first"
    ):
        open_source(folder, TASK, options)
    lost = {name: tensor for name, tensor in tensors.items() if name != "bert.encoder.layer.0.output.dense.bias"}
    save_file(lost, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(CheckpointError, match="lack 1 of .*, bert.encoder.layer.0.output.dense.bias the first"):
        open_source(folder, TASK, options)


def test_a_task_that_the_head_does_not_serve_is_refused_with_those_that_it_does(
    folder: Path, options: SourceOptions
) -> None:
    with pytest.raises(CheckpointError, match="does not serve token-classification; use --task text-classification"):
        open_source(folder, "token-classification", options)


def test_states_of_an_optimizer_are_neither_read_nor_hashed(folder: Path, options: SourceOptions) -> None:
    with (folder / "optimizer.pt").open("wb") as stream:
        stream.truncate(4 << 30)
    source = open_source(folder, TASK, options)
    assert "optimizer.pt" not in source.facts.sha256
    assert "model.safetensors" in source.facts.sha256


def test_an_interpreter_without_the_library_is_told_with_the_command(folder: Path) -> None:
    with pytest.raises(InterpreterError, match="has no torch; run .*-m pip install 'torch=="):
        open_source(folder, TASK, SourceOptions(python=Path(sys.executable)))
    with pytest.raises(InterpreterError, match="/nowhere is no interpreter"):
        open_source(folder, TASK, SourceOptions(python=Path("/nowhere")))
