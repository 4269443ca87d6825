"""Precisions: smaller and as good, or refused with the figures."""

import re
import shutil
from pathlib import Path

import pytest

from converters.compare import CandidateRow, recommend
from converters.evaluation import EvaluationError
from converters.export import ExportSpec, export
from converters.precisions import PrecisionError, candidates
from serving import ServerSpec, start
from tests.conftest import CHECKPOINT, ROOT, TASK
from text_runtime.manifest import Manifest
from trireme.client import Client
from trireme.errors import GateError, TriremeError, UnsupportedError

TEST_ROWS = ROOT / "examples/sentiment/test.tsv"
REVIEWS = ROOT / "examples/sentiment/reviews.txt"


def exported(target: Path, engine: str, precision: str, checkpoint: Path = CHECKPOINT) -> Manifest:
    """Export and evaluate one candidate."""
    calibration = REVIEWS if (engine, precision) == ("openvino", "int8") else None
    return export(
        ExportSpec(
            checkpoint,
            TASK,
            "sentiment",
            target,
            engine=engine,
            precision=precision,
            calibration=calibration,
            evaluation=TEST_ROWS,
        )
    )


def accuracy_in(manifest: Manifest) -> float:
    """The accuracy that a release's report states."""
    (metric,) = [row.detail for row in manifest.gates if row.gate == "metric"]
    return float(re.findall(r"accuracy ([\d.]+)", metric)[0])


def test_int8_has_at_most_three_tenths_of_the_bytes_and_serves_with_the_accuracy_that_its_report_states(
    tmp_path: Path, repository: Path, test_rows: list[tuple[str, str]]
) -> None:
    manifest = exported(tmp_path / "repository", "onnxruntime", "int8")
    small = (tmp_path / "repository/sentiment_encoder/1/model.onnx").stat().st_size
    assert small <= 0.30 * (repository / "sentiment_encoder/1/model.onnx").stat().st_size
    with (
        start(ServerSpec(tmp_path / "repository", 0, 0, 0)) as server,
        Client(f"grpc://{server.grpc_url}", "sentiment") as client,
    ):
        answers = client.classify([text for text, _ in test_rows])
    right = sum(answer.label == label for answer, (_, label) in zip(answers, test_rows, strict=True))
    assert round(right / len(test_rows), 4) == accuracy_in(manifest)


def test_a_quantized_release_says_how_and_on_what_it_was_calibrated(tmp_path: Path) -> None:
    calibration = exported(tmp_path / "repository", "openvino", "int8").encoder.calibration
    assert calibration is not None
    assert calibration.method.startswith("static")
    assert calibration.texts == len(REVIEWS.read_text(encoding="utf-8").splitlines())


def ruin_for_int8(checkpoint: Path) -> None:
    """Give each feed-forward net a neuron with huge weights, and undo it behind the ReLU.

    The function stays the same in fp32; in int8 one scale for the matrix leaves its other weights nothing but zero.
    """
    import paddle

    path = checkpoint / "model_state.pdparams"
    state = paddle.load(str(path))
    for name in [key for key in state if key.endswith("norm1.weight")]:
        layer = name.removesuffix("norm1.weight")
        weights = state[f"{layer}linear1.weight"].numpy()
        weights[:, 0] *= 3000.0
        state[f"{layer}linear1.weight"] = paddle.to_tensor(weights)
        bias = state[f"{layer}linear1.bias"].numpy()
        bias[0] *= 3000.0
        state[f"{layer}linear1.bias"] = paddle.to_tensor(bias)
        out = state[f"{layer}linear2.weight"].numpy()
        out[0, :] /= 3000.0
        state[f"{layer}linear2.weight"] = paddle.to_tensor(out)
    paddle.save(state, str(path))


def test_a_model_that_quantization_ruins_is_refused_with_the_figures(tmp_path: Path) -> None:
    checkpoint = shutil.copytree(CHECKPOINT, tmp_path / "checkpoint")
    ruin_for_int8(checkpoint)
    assert accuracy_in(exported(tmp_path / "fp32", "onnxruntime", "fp32", checkpoint)) > 0.8
    with pytest.raises(GateError, match=r"gate '(outputs|agreement|metric)' refused this candidate: .*\d"):
        exported(tmp_path / "int8", "onnxruntime", "int8", checkpoint)
    assert not (tmp_path / "int8").exists()


def test_static_int8_without_calibration_texts_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(PrecisionError, match="give --calibration FILE"):
        export(ExportSpec(CHECKPOINT, TASK, "sentiment", tmp_path / "r", engine="openvino", precision="int8"))
    assert not (tmp_path / "r").exists()


def test_a_precision_that_an_engine_lacks_names_those_that_it_has(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="precision of onnxruntime 'bf16' is not supported.*fp32, int8"):
        export(ExportSpec(CHECKPOINT, TASK, "sentiment", tmp_path / "r", precision="bf16"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "holds no row"),
        ("text\tlabel\n", "holds no row"),
        ("words\n好\n", "has the columns words"),
        ("text\tlabel\n好\tgreat\n", "labels that the model does not know .great."),
        (None, "No such file"),
    ],
    ids=["empty", "only a header", "no label column", "unknown label", "missing"],
)
def test_a_bad_evaluation_file_is_refused_in_one_line(tmp_path: Path, content: str | None, words: str) -> None:
    path = tmp_path / "evaluation.tsv"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(EvaluationError, match=words) as refusal:
        export(ExportSpec(CHECKPOINT, TASK, "sentiment", tmp_path / "r", evaluation=path))
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "r").exists()


def test_a_missing_calibration_file_is_refused(tmp_path: Path) -> None:
    spec = ExportSpec(
        CHECKPOINT, TASK, "sentiment", tmp_path / "r", engine="openvino", precision="int8", calibration=tmp_path / "no"
    )
    with pytest.raises(TriremeError, match="no: .*No such file"):
        export(spec)


def test_the_fastest_candidate_that_passed_is_recommended() -> None:
    rows = [
        CandidateRow("a", "fp32", True, texts_per_s=10),
        CandidateRow("b", "int8", False, "lost too much", texts_per_s=99),
        CandidateRow("c", "bf16", True, texts_per_s=20),
    ]
    assert recommend(rows).engine == "c"
    with pytest.raises(GateError, match="no candidate passed"):
        recommend(rows[1:2])


def test_every_engine_has_fp32() -> None:
    assert {engine for engine, _ in candidates()} == {engine for engine, own in candidates() if own == "fp32"}
