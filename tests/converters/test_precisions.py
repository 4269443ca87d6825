"""Precisions: smaller and as good, or refused with the figures."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from converters import onnx_graph, precisions
from converters.export import EncoderSpec, EvaluationSpec, ExportSpec, export
from converters.limits import limits_of
from converters.limits import precisions as limited_precisions
from converters.precisions import Choice, PrecisionError, choices, choose
from converters.precisions.base import Feeds
from converters.precisions.fp16 import LARGEST, extreme_of, write_fp16
from converters.precisions.qdq import TENSORRT, QdqSettings, write_qdq
from converters.sources import TokenIds, open_source
from tests.conftest import CHECKPOINT, ROOT, TASK, once
from tests.forks import forks_from_now
from tests.small_disk import small_disk
from text_runtime.encoder.engines import EngineSpec, load_engine
from text_runtime.facts import EncoderFacts
from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.manifest import EncoderManifest
from trireme.client import Client
from trireme.contract.repository import Repository
from trireme.errors import GateError, PublishError, TriremeError, UnsupportedError
from trireme.serving import ServerSpec, start

TEST_ROWS = ROOT / "examples/sentiment/test.tsv"
REVIEWS = ROOT / "examples/sentiment/reviews.txt"


def exported(target: Path, encoder: EncoderSpec, checkpoint: Path = CHECKPOINT) -> EncoderManifest:
    """Export and evaluate one candidate."""
    return export(ExportSpec(checkpoint, TASK, "sentiment", target, encoder, evaluation=EvaluationSpec(TEST_ROWS)))


def refused(target: Path, encoder: EncoderSpec, checkpoint: Path) -> str:
    """The words with which a candidate is refused; nothing of it may remain."""
    with pytest.raises(GateError) as refusal:
        exported(target, encoder, checkpoint)
    assert not target.exists()
    return str(refusal.value)


def size_of(folder: Path) -> int:
    """The bytes of an encoder, its manifest aside."""
    return sum(path.stat().st_size for path in folder.iterdir() if path.name != "manifest.json")


@pytest.fixture(scope="session")
def quantized(shared_folder: Path) -> Path:
    """A repository with two int8 releases of `sentiment` on ONNX Runtime: 1 dynamic, 2 static. Never change it."""

    def make(folder: Path) -> None:
        for method in ("dynamic", "static"):
            exported(folder, EncoderSpec("onnxruntime", "int8", method, REVIEWS))

    return once(shared_folder / "quantized", make)


@pytest.fixture(scope="session")
def fp32_onnx(shared_folder: Path) -> Path:
    """The demo's fp32 graph."""

    def make(folder: Path) -> None:
        folder.mkdir()
        open_source(CHECKPOINT, TASK).write_onnx(folder / "model.onnx")
        onnx_graph.name_output(folder / "model.onnx", "out")

    return once(shared_folder / "fp32-onnx", make) / "model.onnx"


@pytest.fixture(scope="session")
def feeds(repository: Path, reviews: list[str]) -> list[Feeds]:
    """The 500 held-out reviews as inputs of the demo's graph, one at a time, short ones first (OpenVINO compiles for
    each new length)."""
    from text_runtime.tokenizers.tokenizer import TextTokenizer

    facts = Repository(repository).manifest("sentiment", 1).tokenizer
    rows = TextTokenizer(repository / "sentiment_tokenizer/1", facts).encode(reviews)
    ids = sorted((np.array([row.ids], dtype=np.int64) for row in rows), key=lambda row: row.shape[1])
    return [
        {"input_ids": row, "token_type_ids": np.zeros_like(row), "attention_mask": np.ones_like(row)} for row in ids
    ]


def logits_of(path: Path, feeds: list[Feeds]) -> np.ndarray:
    """What a graph gives in ONNX Runtime: FP32 [rows, 2]."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, feed)[0] for feed in feeds])


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """The share of rows with the same label."""
    return float(np.mean(one.argmax(axis=1) == other.argmax(axis=1)))


def test_int8_has_at_most_three_tenths_of_the_bytes_and_loses_at_most_half_a_point(
    quantized: Path, repository: Path
) -> None:
    whole = size_of(repository / "sentiment_encoder/1")
    for release in (1, 2):
        facts = Repository(quantized).manifest("sentiment", release).evaluation
        assert facts is not None
        assert facts.drop_points <= 0.5
        assert size_of(quantized / f"sentiment_encoder/{release}") <= 0.30 * whole


def test_a_release_serves_with_the_accuracy_that_its_manifest_states(
    quantized: Path, test_rows: list[tuple[str, str]]
) -> None:
    facts = Repository(quantized).manifest("sentiment", 1).evaluation
    assert facts is not None
    with (
        start(ServerSpec(quantized, 0, 0, 0)) as server,
        Client(f"grpc://{server.grpc_url}", "sentiment") as client,
    ):
        answers = client.classify([text for text, _ in test_rows])
    right = sum(answer.label == label for answer, (_, label) in zip(answers, test_rows, strict=True))
    assert right / len(test_rows) == pytest.approx(facts.value, abs=1e-9)


def test_the_manifest_says_how_an_encoder_was_quantized_and_on_what(quantized: Path) -> None:
    dynamic, static = (Repository(quantized).manifest("sentiment", release).encoder for release in (1, 2))
    assert (dynamic.method, dynamic.calibration) == ("dynamic", None)
    assert any("batched with" in warning for warning in dynamic.warnings)
    assert static.method == "static"
    assert static.calibration is not None
    assert static.calibration.texts == 300
    assert len(static.calibration.sha256) == 64


def scores_by_neighbours(quantized: Path, release: int, reviews: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The scores of reviews, each alone and all together."""
    folders = {step: quantized / f"sentiment_{step}/{release}" for step in ("tokenizer", "encoder", "postprocess")}
    pipeline = LocalPipeline(folders, Repository(quantized).manifest("sentiment", release))
    alone = [pipeline([{"text": text_tensor([review])}])[0]["scores"] for review in reviews]
    together = pipeline([{"text": text_tensor(reviews)}])[0]["scores"]
    return np.concatenate(alone), together


def test_neighbours_change_a_dynamic_int8_answer_a_little_and_a_static_one_not_at_all(
    quantized: Path, reviews: list[str]
) -> None:
    alone, together = scores_by_neighbours(quantized, 1, reviews[:200])
    assert 1e-4 < np.abs(alone - together).max() < 0.1
    assert agreement(alone, together) >= 0.98
    alone, together = scores_by_neighbours(quantized, 2, reviews[:200])
    assert np.abs(alone - together).max() < 1e-4


@pytest.mark.parametrize("choice", [choice for choice in choices() if choice.precision in ("int8", "int4")], ids=str)
def test_a_quantized_graph_is_small_and_answers_nearly_as_fp32_does(
    choice: Choice, fp32_onnx: Path, feeds: list[Feeds], tmp_path: Path
) -> None:
    rows = [TokenIds(feed["input_ids"][0].tolist(), feed["token_type_ids"][0].tolist()) for feed in feeds[::8]]
    inputs = ("input_ids", "token_type_ids", "attention_mask")
    recipe = precisions.Recipe(choice.precision, fp32_onnx, tmp_path, inputs, precisions.Calibration(rows, ""))
    model = precisions.build(choice, recipe)
    assert size_of(tmp_path) <= 0.30 * fp32_onnx.stat().st_size
    engine = load_engine(EngineSpec(tmp_path, EncoderFacts(choice.engine, choice.precision, model, inputs, "out"), 1))
    answers = np.concatenate([engine(feed) for feed in feeds[::2]])
    assert agreement(answers, logits_of(fp32_onnx, feeds[::2])) >= limits_of(choice.precision).agreement


def test_the_fp16_graph_answers_as_fp32_does_without_nan(fp32_onnx: Path, feeds: list[Feeds], tmp_path: Path) -> None:
    import onnx

    write_fp16(fp32_onnx, tmp_path / "fp16.onnx")
    onnx.checker.check_model(str(tmp_path / "fp16.onnx"), full_check=True)
    halved = logits_of(tmp_path / "fp16.onnx", feeds)
    assert not np.isnan(halved).any()
    assert agreement(halved, logits_of(fp32_onnx, feeds)) >= 0.999
    assert extreme_of(tmp_path / "fp16.onnx", feeds[::10]).magnitude < LARGEST


@pytest.mark.parametrize("settings", [QdqSettings(), TENSORRT], ids=["cpu", "tensorrt"])
def test_the_qdq_graph_answers_nearly_as_fp32_does(
    fp32_onnx: Path, feeds: list[Feeds], tmp_path: Path, settings: QdqSettings
) -> None:
    write_qdq(fp32_onnx, tmp_path / "qdq.onnx", feeds[::5], settings)
    assert agreement(logits_of(tmp_path / "qdq.onnx", feeds), logits_of(fp32_onnx, feeds)) >= 0.97


def test_the_qdq_graph_for_tensorrt_has_no_zero_points_and_no_quantized_tables(
    fp32_onnx: Path, feeds: list[Feeds], tmp_path: Path
) -> None:
    import onnx

    write_qdq(fp32_onnx, tmp_path / "qdq.onnx", feeds[:20], TENSORRT)
    graph = onnx.load(str(tmp_path / "qdq.onnx")).graph
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    pairs = [node for node in graph.node if node.op_type in ("QuantizeLinear", "DequantizeLinear")]
    assert pairs
    assert not any(np.any(constants[node.input[2]]) for node in pairs)
    read = {name for node in graph.node if node.op_type == "Gather" for name in node.input}
    assert not read & {node.output[0] for node in pairs}


def scale_feed_forward(checkpoint: Path, scale: float, neurons: slice) -> Path:
    """Multiply neurons of every feed-forward net, and undo it behind the ReLU: the function stays the same in fp32."""
    import paddle

    path = checkpoint / "model_state.pdparams"
    state = {name: tensor.numpy() for name, tensor in paddle.load(str(path)).items()}
    for name in [key for key in state if key.endswith("linear1.weight")]:
        layer = name.removesuffix("linear1.weight")
        state[name][:, neurons] *= scale
        state[f"{layer}linear1.bias"][neurons] *= scale
        state[f"{layer}linear2.weight"][neurons] /= scale
    paddle.save({name: paddle.to_tensor(array) for name, array in state.items()}, str(path))
    return checkpoint


@pytest.fixture(scope="session")
def outliers(shared_folder: Path) -> Path:
    """The demo with one huge neuron a layer: one scale for a whole matrix leaves its other weights nothing but zero."""

    def make(folder: Path) -> None:
        scale_feed_forward(shutil.copytree(CHECKPOINT, folder), 3000.0, slice(0, 1))

    return once(shared_folder / "outliers", make)


def test_a_model_that_quantization_ruins_is_refused_with_every_figure(outliers: Path, tmp_path: Path) -> None:
    facts = exported(tmp_path / "fp32", EncoderSpec(), outliers).evaluation
    assert facts is not None
    assert facts.value > 0.8
    words = refused(tmp_path / "int8", EncoderSpec("onnxruntime", "int8", "dynamic"), outliers)
    assert re.search(r"gate 'agreement' refused this candidate: \d+\.\d+% of labels .*, 97\.0% needed", words)
    assert re.search(r"outputs passed: largest difference \d", words)
    assert re.search(r"metric refused: accuracy 0\.\d+, the source's 0\.\d+, \+\d+\.\d+ points lost", words)


def test_the_command_refuses_a_ruined_model_in_one_line_with_exit_code_1(outliers: Path, tmp_path: Path) -> None:
    target = tmp_path / "repository"
    options = ["--task", TASK, "--name", "x", "-r", target, "--precision", "int8", "--evaluate", TEST_ROWS]
    command = [sys.executable, "-m", "trireme", "export", str(outliers), *map(str, options)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert (result.returncode, result.stdout) == (1, "")
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: gate 'agreement' refused")
    assert last.endswith("nothing was published")
    assert not target.exists()


def test_a_model_that_overflows_in_fp16_is_refused_with_the_tensor(tmp_path: Path) -> None:
    checkpoint = scale_feed_forward(shutil.copytree(CHECKPOINT, tmp_path / "checkpoint"), 1e6, slice(None))
    words = refused(tmp_path / "repository", EncoderSpec("onnxruntime", "fp16"), checkpoint)
    assert "gate 'range' refused this candidate: largest value inf in" in words


def test_bf16_on_a_cpu_without_it_is_measured_and_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precisions, "cpu_flags", lambda: {"avx2"})
    (warning,) = exported(tmp_path / "repository", EncoderSpec("openvino", "bf16")).encoder.warnings
    assert "this CPU has none of amx_bf16, avx512_bf16: measured over 500 texts" in warning


def test_static_int8_without_calibration_texts_says_what_to_give() -> None:
    with pytest.raises(PrecisionError, match="give --calibration FILE"):
        EncoderSpec("openvino", "int8")


def test_a_precision_or_method_that_an_engine_lacks_names_those_that_it_has() -> None:
    with pytest.raises(UnsupportedError, match="precision of onnxruntime 'bf16' is not supported.*fp32, int4, int8"):
        EncoderSpec(precision="bf16")
    with pytest.raises(PrecisionError, match="no method 'weight-only'; use one of: dynamic, static"):
        EncoderSpec(precision="int8", method="weight-only")
    with pytest.raises(PrecisionError, match="leave --method out"):
        EncoderSpec(precision="fp32", method="static")


def test_a_precision_without_a_method_gets_its_first() -> None:
    assert choose("onnxruntime", "int8") == Choice("onnxruntime", "int8", "dynamic")
    assert choose("openvino", "int8") == Choice("openvino", "int8", "static")


def bad_texts() -> Iterator[tuple[str, bytes | None, str]]:
    """Names, contents and what is said of files that hold no texts."""
    yield "missing", None, "No such file"
    yield "empty", b"\n \n", "holds no text"
    yield "binary", b"PK\x03\x04\0\0\0\n", "holds binary data"
    yield "not UTF-8", "很好".encode("gb18030"), "codec can't decode"


@pytest.mark.parametrize(
    ("content", "words"), [case[1:] for case in bad_texts()], ids=[case[0] for case in bad_texts()]
)
def test_a_bad_calibration_file_is_refused_in_one_line(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "calibration.txt"
    if content is not None:
        path.write_bytes(content)
    encoder = EncoderSpec("onnxruntime", "int8", "static", path)
    with pytest.raises(TriremeError, match=words) as refusal:
        export(ExportSpec(CHECKPOINT, TASK, "sentiment", tmp_path / "r", encoder))
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "r").exists()


def test_a_graph_that_a_quantizer_cannot_read_is_one_clear_error(tmp_path: Path) -> None:
    broken = tmp_path / "model.onnx"
    broken.write_bytes(b"no graph at all")
    calibration = precisions.Calibration([], "")
    (tmp_path / "out").mkdir()
    for choice in choices():
        is_copied = precisions.is_plain_graph(choice) and choice.engine == "onnxruntime"
        if precisions.needs_onnx(choice) and not is_copied:  # what is copied is left to the gates
            with pytest.raises(TriremeError, match="cannot make it of this graph") as refusal:
                precisions.build(
                    choice, precisions.Recipe(choice.precision, broken, tmp_path / "out", ("input_ids",), calibration)
                )
            assert "\n" not in str(refusal.value)


def test_a_disk_that_fills_while_openvino_writes_leaves_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path, 2, is_held=True) as target:
        with pytest.raises(PublishError, match="No space left on device"):
            export(ExportSpec(CHECKPOINT, TASK, "sentiment", target, EncoderSpec("openvino")))
        assert not list(target.iterdir())


def test_openvino_forks_no_reporter_of_its_use(tmp_path: Path) -> None:
    seen = forks_from_now()
    export(ExportSpec(CHECKPOINT, TASK, "sentiment", tmp_path / "r", EncoderSpec("openvino")))
    assert seen == []


def test_every_engine_has_fp32_and_every_precision_has_limits() -> None:
    assert {choice.engine for choice in choices()} == {c.engine for c in choices() if c.precision == "fp32"}
    assert {choice.precision for choice in choices()} <= set(limited_precisions())
