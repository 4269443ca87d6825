"""Causal language models of Hugging Face and PaddleNLP: exported by their libraries, judged by them, or refused."""

import json
import shutil
from pathlib import Path

import pytest

from converters.generation.corpus import PROMPTS
from converters.generation.export import export_generation
from converters.generation.sources import open_causal_source
from converters.generation.spec import GenerationSpec
from converters.precisions import PrecisionError
from tests.conftest import once
from tests.generation.causal_checkpoints import write_huggingface, write_paddlenlp
from text_runtime.manifest import GenerationManifest
from trireme.client import Client
from trireme.errors import CheckpointError, GateError, TriremeError, UnsupportedError
from trireme.serving import ServerSpec, start

pytestmark = [pytest.mark.huggingface, pytest.mark.xdist_group("causal-sources")]
KINDS = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM"}
LAYOUTS = ("huggingface", "paddlenlp")


@pytest.fixture(scope="session")
def checkpoints(shared_folder: Path, python: Path) -> Path:
    """A folder with a checkpoint for each kind and layout, `llama-paddlenlp` and others. Never change it."""

    def make(folder: Path) -> None:
        for kind, architecture in KINDS.items():
            own = folder / f"{kind}-huggingface"
            write_huggingface(python, own, kind)
            write_paddlenlp(own, folder / f"{kind}-paddlenlp", architecture)

    return once(shared_folder / "causal-checkpoints", make)


@pytest.fixture
def llama(checkpoints: Path, tmp_path: Path) -> Path:
    """A Llama in Hugging Face's layout, to be changed."""
    return shutil.copytree(checkpoints / "llama-huggingface", tmp_path / "llama")


def details(manifest: GenerationManifest) -> dict[str, str]:
    """What each gate said; all have passed, or there were no manifest."""
    return {row.gate: row.detail for row in manifest.gates}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_in_fp32_it_answers_as_its_own_library_does(
    checkpoints: Path, python: Path, tmp_path: Path, kind: str, layout: str
) -> None:
    spec = GenerationSpec(checkpoints / f"{kind}-{layout}", "writer", tmp_path, cache_precision="f32", python=python)
    manifest = export_generation(spec)
    told = details(manifest)
    assert told["greedy"] == "20 of 20 greedy answers equal the source's"
    assert told["chat"] == "3 conversations as the source writes them"
    assert float(told["logits"].split()[2].rstrip(",")) < 1e-5
    assert (manifest.source.kind, manifest.source.architecture) == (layout, KINDS[kind])
    assert {"torch", "transformers", "optimum-intel"} <= manifest.source.libraries.keys()


def test_a_release_of_paddlenlp_is_served_as_paddlenlp_writes(checkpoints: Path, python: Path, tmp_path: Path) -> None:
    folder = checkpoints / "llama-paddlenlp"
    export_generation(GenerationSpec(folder, "writer", tmp_path, cache_precision="f32", python=python))
    source = open_causal_source(folder, python)
    prompts = PROMPTS[:4]
    asked = source.tokenize(prompts)
    wanted = [source.continue_greedily(ids, 12).ids for ids in asked]
    source.close()
    with start(ServerSpec(tmp_path, 0, 0, 0)) as server, Client(f"grpc://{server.grpc_url}", "writer") as client:
        answers = [client.generate(prompt, temperature=0, max_tokens=12) for prompt in prompts]
    assert [answer.num_output_tokens for answer in answers] == [len(ids) for ids in wanted]
    assert [answer.num_input_tokens for answer in answers] == [len(ids) for ids in asked]


def test_int8_reads_as_well_and_int4_says_what_it_was_made_with(
    checkpoints: Path, python: Path, tmp_path: Path
) -> None:
    folder = checkpoints / "qwen2-huggingface"
    int8 = export_generation(GenerationSpec(folder, "int8", tmp_path, precision="int8", python=python))
    assert (int8.generator.precision, int8.generator.calibration) == ("int8", None)
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(prompt.replace("\n", " ") for prompt in PROMPTS), encoding="utf-8")
    int4 = export_generation(
        GenerationSpec(
            folder,
            "int4",
            tmp_path,
            precision="int4",
            method="awq",
            calibration=texts,
            max_perplexity_percent=100,
            python=python,
        )
    )
    assert int4.generator.calibration is not None
    assert (int4.generator.calibration.method, int4.generator.calibration.texts) == ("awq", len(PROMPTS))


def test_a_method_asks_for_texts_that_judge_nothing(tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    with pytest.raises(PrecisionError, match="--calibration FILE"):
        GenerationSpec(tmp_path, "writer", precision="int4", method="awq")
    with pytest.raises(PrecisionError, match="would judge it too"):
        GenerationSpec(tmp_path, "writer", precision="int4", method="awq", calibration=texts, corpus=texts)
    with pytest.raises(PrecisionError, match="a way to int4"):
        GenerationSpec(tmp_path, "writer", precision="int8", method="gptq", calibration=texts)


def test_what_a_gguf_file_has_is_not_made_smaller_by_a_method(weights: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("One.\nTwo.\n", encoding="utf-8")
    with pytest.raises(CheckpointError, match="are int4 already"):
        export_generation(
            GenerationSpec(weights, "writer", tmp_path, precision="int4", method="gptq", calibration=texts)
        )


def change(path: Path, **values: object) -> None:
    """Change keys of a JSON file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | values), encoding="utf-8")


def refusal_of(folder: Path, python: Path, error: type[TriremeError] = CheckpointError) -> str:
    """The line with which an export refuses, having left nothing behind."""
    with pytest.raises(error) as raised:
        export_generation(GenerationSpec(folder, "writer", folder.parent / "repository", python=python))
    assert not list((folder.parent / "repository").glob("*/[0-9]*"))
    return str(raised.value)


def test_what_cannot_be_served_as_trained_is_refused_in_one_line(llama: Path, python: Path) -> None:
    change(llama / "config.json", architectures=["LlamaForSequenceClassification"])
    assert "LlamaForSequenceClassification is no causal language model" in refusal_of(llama, python)
    change(llama / "config.json", architectures=["LlamaForCausalLM"], num_hidden_layers=3)
    assert "the weights lack 9 of LlamaForCausalLM's" in refusal_of(llama, python)
    change(llama / "config.json", num_hidden_layers=1)
    assert "9 weights of the file are not used by LlamaForCausalLM" in refusal_of(llama, python)
    change(llama / "config.json", num_hidden_layers=2, auto_map={"AutoConfig": "own.Config"}, model_type="own")
    assert "needs code of its own" in refusal_of(llama, python)


def test_damaged_weights_and_an_answer_without_an_end_are_refused(llama: Path, python: Path) -> None:
    for name in ("config.json", "generation_config.json"):
        change(llama / name, eos_token_id=None)
    change(llama / "tokenizer_config.json", eos_token=None)
    change(llama / "special_tokens_map.json", eos_token=None)
    assert "names no token that ends an answer" in refusal_of(llama, python)
    weights = llama / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    assert "model.safetensors is cut short" in refusal_of(llama, python)


def test_a_template_that_refuses_everything_is_no_passed_gate(llama: Path, python: Path) -> None:
    (llama / "chat_template.jinja").write_text("{{ raise_exception('no') }}", encoding="utf-8")
    assert "refuses every conversation" in refusal_of(llama, python, GateError)


def test_paddlenlps_own_layouts_that_nobody_else_knows_are_refused(
    checkpoints: Path, python: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(checkpoints / "llama-paddlenlp", tmp_path / "llama")
    change(folder / "config.json", fuse_attention_qkv=True)
    assert "config.json has fuse_attention_qkv" in refusal_of(folder, python)
    change(folder / "config.json", fuse_attention_qkv=False, architectures=["GPTForCausalLM"])
    assert "LlamaForCausalLM" in refusal_of(folder, python, UnsupportedError)
