"""The engine `vllm` on vLLM's CPU build: exported from Hugging Face's layout, judged, and served by a real Triton."""

import os
from pathlib import Path

import pytest

from converters.generation.export import export_generation
from converters.generation.spec import GenerationSpec
from tests.generation.causal_checkpoints import write_huggingface
from tests.generation.running import running_sequences
from tests.waiting import until
from trireme.client import Client
from trireme.errors import RefusedInputError
from trireme.serving import Server, ServerSpec, start

pytestmark = [pytest.mark.vllm, pytest.mark.huggingface, pytest.mark.xdist_group("vllm"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, python: Path) -> Path:
    """A release of a small Qwen2 for vLLM, in fp32."""
    if not os.environ.get("TRIREME_VLLM_PYTHON"):
        pytest.skip("TRIREME_VLLM_PYTHON names no interpreter with vLLM")
    folder = tmp_path_factory.mktemp("vllm")
    write_huggingface(python, folder / "qwen2", "qwen2")
    spec = GenerationSpec(folder / "qwen2", "writer", folder / "repository", "vllm", python=python)
    manifest = export_generation(spec)
    told = {row.gate: row.detail for row in manifest.gates}
    assert told["greedy"] == "20 of 20 greedy answers equal the source's"
    return folder / "repository"


@pytest.fixture(scope="module")
def server(repository: Path) -> Server:
    """A Triton that serves it."""
    with start(ServerSpec(repository, 0, 0, 0)) as server:
        yield server


def test_it_streams_meets_a_schema_and_tells_log_probabilities(server: Server) -> None:
    with Client(f"grpc://{server.grpc_url}", "writer", timeout_s=60) as client:
        pieces = list(client.stream("The harbour", temperature=0, max_tokens=16))
        answer = client.generate("The harbour", temperature=0, max_tokens=16, logprobs=1)
        drawn = {client.generate("The harbour", seed=3, max_tokens=12).text for _ in range(3)}
    assert "".join(piece.text for piece in pieces) == answer.text
    assert answer.num_output_tokens == len(answer.logprobs) == 16
    assert len(drawn) == 1


def test_leaving_frees_the_sequence_and_what_it_cannot_do_is_refused(server: Server) -> None:
    with Client(f"grpc://{server.grpc_url}", "writer", timeout_s=60) as client:
        stream = client.stream("The harbour", max_tokens=400, ignore_eos=True)
        next(stream)
        stream.close()
        until(lambda: running_sequences(server) == 0, 1)
        with pytest.raises(RefusedInputError, match="the model takes"):
            client.generate("The harbour " * 500)
