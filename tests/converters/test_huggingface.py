"""Hugging Face folders: every family that PaddleNLP reads, shards, read-only folders, and what is refused."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from converters.export import ExportSpec, export
from converters.sources import Pooling, SourceOptions, open_source
from converters.sources.architectures import ALL_FAMILIES
from converters.sources.checkpoint import INDEX
from converters.tokenizers.huggingface import HuggingFaceTokenizer
from tests.conftest import TASK
from tests.converters.candidates import gate
from tests.converters.checkpoints import make_model, write_hugging_face
from trireme.errors import CheckpointError, UnsupportedError

pytestmark = pytest.mark.xdist_group("huggingface")
NAME = "BertForSequenceClassification"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT in Hugging Face's layout. Never change it."""
    return write_hugging_face(tmp_path_factory.mktemp("original") / "bert", NAME)


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return shutil.copytree(original, tmp_path / "bert")


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


@pytest.mark.parametrize("prefix", [family.prefix for family in ALL_FAMILIES if family.is_in_hugging_face])
def test_a_family_is_read_from_hugging_faces_layout(prefix: str, tmp_path: Path) -> None:
    import paddle

    name = f"{prefix}ForSequenceClassification"
    folder = write_hugging_face(tmp_path / "c", name)
    source = open_source(folder, TASK)
    assert source.facts.kind == "huggingface"
    assert len(gate(source, tmp_path / "candidate", TASK)) == 4
    written = make_model(name, len((folder / "vocab.txt").read_text().splitlines()))
    row = np.array([[2, 40, 50, 3]])
    answer = written(paddle.to_tensor(row))
    theirs = (answer[0] if isinstance(answer, tuple) else answer).numpy()
    np.testing.assert_allclose(source.forward({"input_ids": row, "token_type_ids": row * 0}), theirs, atol=1e-6)


def test_a_family_that_hugging_face_has_otherwise_is_refused_with_those_that_are_read(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text()) | {"architectures": ["ErnieForSequenceClassification"]}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(UnsupportedError, match="'ErnieForSequenceClassification' is not supported; .*BertFor"):
        open_source(folder, TASK)


def test_shards_are_the_same_model_as_one_file(original: Path, folder: Path) -> None:
    cut_into_shards(folder)
    row = {"input_ids": np.array([[2, 40, 50, 3]]), "token_type_ids": np.zeros((1, 4), dtype=np.int64)}
    whole, parts = open_source(original, TASK), open_source(folder, TASK)
    assert parts.facts.kind == "huggingface"
    np.testing.assert_array_equal(parts.forward(row), whole.forward(row))


def test_a_lost_shard_is_named(folder: Path) -> None:
    cut_into_shards(folder)
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(CheckpointError, match="lacks model-00002-of-00002.safetensors, which"):
        open_source(folder, TASK)


def test_a_shard_cut_short_is_named(folder: Path) -> None:
    cut_into_shards(folder)
    shard = folder / "model-00002-of-00002.safetensors"
    shard.write_bytes(shard.read_bytes()[:-4])
    with pytest.raises(CheckpointError, match="model-00002-of-00002.safetensors is cut short"):
        open_source(folder, TASK)


def test_a_read_only_folder_is_exported_and_stays_as_it_was(folder: Path, tmp_path: Path) -> None:
    """Its files' times too: the superuser could write whatever the permissions say."""
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    times = os.stat(folder)
    assert export(ExportSpec(folder, TASK, "x", tmp_path / "repository")).release == 1
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before
    assert os.stat(folder).st_mtime_ns == times.st_mtime_ns


def test_weights_in_pytorchs_own_format_are_refused_with_the_way_out(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(CheckpointError, match="pytorch_model.bin only; save it as model.safetensors"):
        open_source(folder, TASK)


def test_truncated_safetensors_are_refused(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:20_000])
    with pytest.raises(CheckpointError, match="cut short"):
        open_source(folder, TASK)


def test_an_embedding_checkpoint_that_does_not_say_how_to_pool_needs_the_option(tmp_path: Path) -> None:
    folder = write_hugging_face(tmp_path / "bert", "BertModel")
    with pytest.raises(CheckpointError, match="--pooling"):
        open_source(folder, "embedding")
    assert open_source(folder, "embedding", SourceOptions(pooling=Pooling.CLS)).width == 32


def test_a_tokenizer_that_pads_with_another_id_than_the_model_is_refused(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text('{"pad_token": "[PAD]"}')
    with pytest.raises(CheckpointError, match="pads with"):
        HuggingFaceTokenizer(folder, folder, 7)
