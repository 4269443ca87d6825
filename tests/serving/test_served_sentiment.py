"""The demo pipeline on the real Triton, over real HTTP and gRPC, against PaddleNLP's own answers."""

import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tritonclient.grpc as triton_grpc
from tritonclient.utils import InferenceServerException

from trireme.client import Client
from trireme.serving import Server

TOLERANCE = 1e-4


def scores_of(server: Server, texts: list[str], rows: int) -> npt.NDArray[Any]:
    """Scores of all texts, sent in requests of so many rows."""
    pieces = (texts[start : start + rows] for start in range(0, len(texts), rows))
    with Client(f"grpc://{server.grpc_url}", "sentiment") as client:
        return np.array([answer.scores for piece in pieces for answer in client.classify(piece)])


@pytest.mark.parametrize("rows", [1, 7, 64])
def test_scores_equal_paddlenlps_whatever_the_batch(
    served: Server, reviews: list[str], source_scores: npt.NDArray[Any], rows: int
) -> None:
    assert np.abs(scores_of(served, reviews, rows) - source_scores).max() < TOLERANCE


def test_scores_equal_paddlenlps_from_sixteen_clients_at_once(
    served: Server, reviews: list[str], source_scores: npt.NDArray[Any]
) -> None:
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda _: scores_of(served, reviews, 5), range(16)))
    for result in results:
        assert np.abs(result - source_scores).max() < TOLERANCE


def test_served_accuracy_equals_the_checkpoints(
    served: Server, test_rows: list[tuple[str, str]], source_scores: npt.NDArray[Any]
) -> None:
    with Client(served.http_url, "sentiment") as client:
        answers = client.classify([text for text, _ in test_rows])
    served_right = sum(answer.label == label for answer, (_, label) in zip(answers, test_rows, strict=True))
    words = np.array(["negative", "positive"])[source_scores.argmax(axis=1)]
    assert served_right == sum(word == label for word, (_, label) in zip(words, test_rows, strict=True))


def test_an_empty_text_is_answered(served: Server) -> None:
    with Client(served.http_url, "sentiment") as client:
        (answer,) = client.classify([""])
    assert answer.label in {"negative", "positive"}
    assert not answer.is_truncated


def test_a_huge_text_is_answered_and_the_answer_says_what_was_cut(served: Server) -> None:
    text = "物流很快，质量也好。" * 20_000
    with Client(served.http_url, "sentiment") as client:
        (answer,) = client.classify([text])
    assert answer.label in {"negative", "positive"}
    assert answer.truncated_chars == len(text) - 254  # 256 tokens less [CLS] and [SEP], one character each


def post(server: Server, body: dict[str, Any] | bytes, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """POST an inference; gives the status and the answer's text."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{server.http_url}/v2/models/sentiment/infer", content, headers or {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def body_of(**changes: Any) -> dict[str, Any]:
    """A good request body, with changes."""
    return {"inputs": [{"name": "text", "shape": [1, 1], "datatype": "BYTES", "data": ["好"]} | changes]}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (body_of(shape=[1, 2], data=["好", "坏"]), "'text'"),
        (body_of(shape=[1], data=["好"]), "'text'"),
        (body_of(datatype="FP32", data=[1.0]), "'text'"),
        (body_of(name="texts"), "texts"),
        ({"inputs": []}, "text"),
        (body_of(shape=[65, 1], data=["好"] * 65), "64"),
    ],
    ids=["wrong shape", "no batch dimension", "wrong type", "wrong name", "missing input", "65 rows"],
)
def test_a_bad_request_is_refused_by_name(served: Server, body: dict[str, Any], named: str) -> None:
    status, answer = post(served, body)
    assert status == 400
    assert named in json.loads(answer)["error"]


def test_invalid_utf8_fails_its_own_request_and_no_neighbour(served: Server, reviews: list[str]) -> None:
    bad = np.array([[b"\xff\xfe\x00broken"]], dtype=np.object_)
    with ThreadPoolExecutor(16) as pool:
        outcomes = list(
            pool.map(lambda values: _outcome(served, values), [*_columns(reviews), bad, *_columns(reviews)])
        )
    refused = [outcome for outcome in outcomes if outcome]
    assert len(refused) == 1
    assert "input 'text', row 0: not valid UTF-8" in refused[0]


def _outcome(server: Server, values: npt.NDArray[Any]) -> str:
    with triton_grpc.InferenceServerClient(server.grpc_url) as client:
        try:
            client.infer("sentiment", [_input(values)])
        except InferenceServerException as error:
            return str(error)
    return ""


def _columns(texts: list[str]) -> list[npt.NDArray[Any]]:
    return [np.array([[text.encode()]], dtype=np.object_) for text in texts[:40]]


def _input(values: npt.NDArray[Any]) -> Any:
    tensor = triton_grpc.InferInput("text", values.shape, "BYTES")
    tensor.set_data_from_numpy(values)
    return tensor


def test_the_answer_names_the_release_that_gave_it(served: Server) -> None:
    _, answer = post(served, body_of())
    assert json.loads(answer)["model_version"] == "1"


def test_control_is_shut_to_users_of_the_data_path(served: Server) -> None:
    with triton_grpc.InferenceServerClient(served.grpc_url) as client:
        with pytest.raises(InferenceServerException, match="restricted"):
            client.unload_model("sentiment")
        client.get_model_repository_index(headers=served.control_headers)
    request = urllib.request.Request(f"http://{served.http_url}/v2/repository/index", b"{}")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, timeout=10)
