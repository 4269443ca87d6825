"""What one caller sends harms no other: the others' answers come, and are the same to the sixth decimal."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException

from converters.export import EncoderSpec, ExportSpec, export
from tests.conftest import CHECKPOINT, TASK, once
from trireme.client import Client
from trireme.errors import InferenceError
from trireme.serving import Server, ServerSpec, start

pytestmark = pytest.mark.xdist_group("neighbours")
PIPELINES = {
    "onnx": ("onnxruntime", 0),
    "openvino": ("openvino", 0),
    "paddle": ("paddle", 0),
    "joined": ("onnxruntime", 1),
}
CALLERS, ROUNDS = 7, 12


@pytest.fixture(scope="module")
def server(shared_folder: Path) -> Iterator[Server]:
    """A Triton with the demo on every engine in fp32, and once with its steps joined."""

    def make(folder: Path) -> None:
        for name, (engine, instances) in PIPELINES.items():
            export(ExportSpec(CHECKPOINT, TASK, name, folder, EncoderSpec(engine), instances=instances))

    with start(ServerSpec(once(shared_folder / "neighbours-repository", make), 0, 0, 0)) as server:
        yield server


def tensor(name: str, values: npt.NDArray[Any], kind: str) -> triton.InferInput:
    """An input as Triton's own client sends it."""
    made = triton.InferInput(name, list(values.shape), kind)
    made.set_data_from_numpy(values)
    return made


def encoder_inputs(ids: list[int], lengths: list[int]) -> list[triton.InferInput]:
    """One row for the encoder step itself, which anybody who reaches Triton may ask."""
    return [
        tensor("input_ids", np.array([ids], dtype=np.int64), "INT64"),
        tensor("lengths", np.array([lengths], dtype=np.int32), "INT32"),
        tensor("deadline_ns", np.zeros((1, 1), dtype=np.int64), "INT64"),
    ]


def text_inputs(*texts: bytes) -> list[triton.InferInput]:
    """Rows for the pipeline, whatever their bytes."""
    return [tensor("text", np.array([[text] for text in texts], dtype=np.object_), "BYTES")]


TO_ENCODER = {
    "an id beyond the table": (encoder_inputs([1, 9_999_999, 2], [3]), "no embedding for the id 9999999"),
    "a negative id": (encoder_inputs([1, -5, 2], [3]), "no embedding for the id -5"),
    "lengths of more tokens": (encoder_inputs([1, 2], [700]), "counts more tokens"),
    "negative lengths": (encoder_inputs([1, 2], [-1]), "counts more tokens"),
    "no token at all": (encoder_inputs([1, 2], [0]), "a row has no token"),
    "a row longer than the positions": (encoder_inputs([5] * 5000, [5000]), "a row of 5000 tokens, the model reads"),
}
TO_PIPELINE = {
    "a million of one letter": (text_inputs(b"a" * 1_000_000), None),
    "a million blanks": (text_inputs(b" " * 1_000_000), None),
    "no UTF-8": (text_inputs(b"\xff\xfe"), "not valid UTF-8"),
    "no UTF-8 beside a text": (text_inputs("好".encode(), b"\xc3("), "row 1: not valid UTF-8"),
    "no row": ([tensor("text", np.empty((0, 1), dtype=np.object_), "BYTES")], ""),
    "a vector": ([tensor("text", np.array([b"a"], dtype=np.object_), "BYTES")], "shape"),
}


def misbehave(server: Server, name: str, ended: threading.Event) -> int:
    """Send what is wrong until the others have ended; gives how often. Each is answered as it deserves."""
    count = 0
    with triton.InferenceServerClient(server.grpc_url) as client:
        while not ended.is_set():
            to_encoder = {} if name == "joined" else TO_ENCODER
            for model, sent in ((f"{name}_encoder", to_encoder), (name, TO_PIPELINE)):
                for inputs, words in sent.values():
                    if words is None:
                        client.infer(model, inputs, client_timeout=60)
                    else:
                        with pytest.raises(InferenceServerException, match=words):
                            client.infer(model, inputs, client_timeout=60)
                    count += 1
    return count


def scores(server: Server, name: str, texts: list[str]) -> npt.NDArray[Any]:
    """One request's scores."""
    with Client(f"grpc://{server.grpc_url}", name) as client:
        return np.array([answer.scores for answer in client.classify(texts)])


@pytest.mark.parametrize("name", PIPELINES)
def test_seven_callers_are_answered_as_if_the_eighth_were_not_there(
    name: str, server: Server, reviews: list[str]
) -> None:
    asked = [reviews[index * 5 : index * 5 + 1 + index % 3] for index in range(CALLERS * ROUNDS)]
    alone = [scores(server, name, texts) for texts in asked]
    ended = threading.Event()
    with ThreadPoolExecutor(CALLERS + 1) as pool:
        bad = pool.submit(misbehave, server, name, ended)
        try:
            together = list(pool.map(lambda texts: scores(server, name, texts), asked))
        finally:
            ended.set()
        assert bad.result() >= len(TO_PIPELINE)
    for found, expected in zip(together, alone, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_server_still_serves_every_pipeline_afterwards(server: Server) -> None:
    for name in PIPELINES:
        assert scores(server, name, ["很好"]).shape == (1, 2)
    with pytest.raises(InferenceError), Client(f"grpc://{server.grpc_url}", "onnx_encoder") as client:
        client.infer({"text": ["a"]})
