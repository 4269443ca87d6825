"""Prompt lookup: a release that guesses from its text writes the same, and is published only where it is not slower."""

from pathlib import Path

import pytest

from converters.generation.export import export_generation
from converters.generation.spec import GenerationSpec
from trireme.client import Client
from trireme.errors import UnsupportedError
from trireme.serving import ServerSpec, start

pytestmark = pytest.mark.xdist_group("generation")
REPEATED = "The harbour of the old town is small. The harbour of the new town is large. " * 14


def test_what_repeats_itself_is_written_sooner_and_the_same(weights: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(f"{REPEATED}\n{REPEATED[38:]}\n", encoding="utf-8")
    spec = GenerationSpec(weights, "writer", tmp_path / "repository", prompt_lookup=4, corpus=corpus)
    manifest = export_generation(spec)
    (row,) = (row for row in manifest.gates if row.gate == "prompt-lookup")
    assert row.value is not None
    assert row.value > 1.0
    assert manifest.generator.prompt_lookup == 4
    with (
        start(ServerSpec(tmp_path / "repository", 0, 0, 0)) as server,
        Client(f"grpc://{server.grpc_url}", "writer", 60) as client,
    ):
        pieces = list(client.stream(REPEATED + "The harbour", temperature=0, max_tokens=24))
        assert "town is" in "".join(piece.text for piece in pieces)
        assert sum(piece.num_output_tokens for piece in pieces) == 24
        schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
        assert '"a"' in client.generate(REPEATED, schema=schema, temperature=0, max_tokens=60).text
        assert len(client.generate(REPEATED, logprobs=1, max_tokens=8, ignore_eos=True).logprobs) == 8


def test_an_engine_without_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="openvino-genai"):
        GenerationSpec(tmp_path, "writer", engine="vllm", prompt_lookup=4)
