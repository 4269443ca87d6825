"""Target gpu: what it refuses, what it writes, and that the exported graph does not mind the tokenizer's padding."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from converters.export import EncoderSpec, ExportSpec, export
from tests.conftest import CHECKPOINT, ROOT, TASK
from text_runtime.encoder.buckets import Buckets
from text_runtime.tensors import TEXT
from text_runtime.tokenizers.rows import RowTokenizer
from trireme.contract.pipelines import Step
from trireme.contract.repository import Repository
from trireme.errors import ContractError, UnsupportedError


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"target": "tpu"}, "--target 'tpu'"),
        ({"target": "gpu", "engine": "openvino"}, "choose one of: onnxruntime, tensorrt"),
        ({"target": "gpu", "engine": "tensorrt", "precision": "bf16"}, "precision of tensorrt on target gpu 'bf16'"),
        ({"target": "gpu", "engine": "onnxruntime", "precision": "int8"}, "choose one of: fp16, fp32"),
        ({"target": "cpu", "engine": "tensorrt"}, "engine 'tensorrt'"),
    ],
)
def test_an_engine_or_precision_that_a_target_lacks_is_refused_by_name(options: dict[str, str], named: str) -> None:
    with pytest.raises(UnsupportedError, match=named):
        EncoderSpec(**options)  # type: ignore[arg-type]


def test_windows_are_not_served_on_a_gpu(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="choose one of: truncate"):
        ExportSpec(CHECKPOINT, TASK, "p", tmp_path, EncoderSpec("tensorrt", target="gpu"), long_text="window")


def test_information_extraction_is_not_served_on_a_gpu(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="information-extraction"):
        ExportSpec(CHECKPOINT, "information-extraction", "p", tmp_path, EncoderSpec("tensorrt", target="gpu"))


def test_a_release_of_target_gpu_holds_the_graph_and_says_its_buckets(gpu_repository: Path) -> None:
    repository = Repository(gpu_repository)
    manifest = repository.manifest("sentiment", 1)
    assert (manifest.encoder.engine, manifest.encoder.model) == ("tensorrt", "model.onnx")
    assert manifest.tokenizer.buckets == (32, 64, 128, 256)
    assert [gate.gate for gate in manifest.gates] == ["graph", "load", "tokens", "outputs"]
    assert repository.config("sentiment_encoder").platform == "tensorrt_plan"


def test_other_buckets_are_another_pipeline(gpu_repository: Path, tmp_path: Path) -> None:
    """The warm-up and the profiles of a config are those of its buckets."""
    folder = tmp_path / "models"
    shutil.copytree(gpu_repository, folder)
    spec = ExportSpec(CHECKPOINT, TASK, "sentiment", folder, EncoderSpec("tensorrt", target="gpu"), max_length=100)
    with pytest.raises(ContractError, match="model_warmup of sentiment_encoder differs"):
        export(spec)
    assert Repository(folder).releases("sentiment") == [1]


def test_the_graph_answers_alike_for_a_row_alone_and_padded_to_its_bucket(
    gpu_repository: Path, reviews: list[str]
) -> None:
    import onnxruntime

    repository = Repository(gpu_repository)
    facts = repository.manifest("sentiment", 1).tokenizer
    tokenizer = repository.step_folder("sentiment", Step.TOKENIZER) / "1"
    graph = repository.step_folder("sentiment", Step.ENCODER) / "1" / "model.onnx"
    session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    rows = RowTokenizer(tokenizer, facts, [TEXT], names).encode([{"text": [text]} for text in reviews[:100]])
    seen = set()
    for row in rows:
        padded = Buckets(facts.buckets, facts.pad_token_id).pad(row)
        seen.add(padded["input_ids"].shape[1])
        alone, together = (session.run(None, dict(feeds))[0] for feeds in (row, padded))
        assert np.abs(alone - together).max() < 1e-5
    assert seen == set(facts.buckets)


@pytest.mark.parametrize(("precision", "operator"), [("fp16", "Cast"), ("int8", "QuantizeLinear")])
def test_a_release_of_target_gpu_holds_a_graph_of_its_precision_that_passed_the_gates(
    precision: str, operator: str, tmp_path: Path
) -> None:
    """Its gates run the very graph that TensorRT will compile."""
    import onnx

    reviews = ROOT / "examples/sentiment/reviews.txt"
    encoder = EncoderSpec("tensorrt", precision, calibration=reviews, target="gpu")
    manifest = export(ExportSpec(CHECKPOINT, TASK, "sentiment", tmp_path / "models", encoder))
    assert manifest.encoder.warnings == ()
    assert (manifest.gates[-1].gate, manifest.gates[-1].status) == ("agreement", "passed")
    graph = onnx.load(str(tmp_path / "models/sentiment_encoder/1/model.onnx")).graph
    assert operator in {node.op_type for node in graph.node}
