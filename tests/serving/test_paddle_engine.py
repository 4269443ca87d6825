"""Paddle Inference inside Triton: for models that do not convert to ONNX."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from converters.export import EncoderSpec, ExportSpec, export
from tests.conftest import CHECKPOINT, TASK
from trireme.client import Client
from trireme.serving import ServerSpec, start

TEXTS = 60


@pytest.mark.parametrize(
    ("precision", "tolerance"), [("fp32", 1e-4), pytest.param("bf16", 0.05, marks=pytest.mark.drill)]
)
def test_the_paddle_engine_answers_as_the_source_does(
    tmp_path: Path, reviews: list[str], source_scores: npt.NDArray[np.float32], precision: str, tolerance: float
) -> None:
    export(ExportSpec(CHECKPOINT, TASK, "sentiment", tmp_path, EncoderSpec("paddle", precision)))
    assert not list(tmp_path.rglob("*.onnx"))
    with start(ServerSpec(tmp_path, 0, 0, 0)) as server, Client(server.http_url, "sentiment") as client:
        scores = [answer.scores for answer in client.classify(reviews[:TEXTS])]
    np.testing.assert_allclose(np.array(scores), source_scores[:TEXTS], atol=tolerance)
