"""Routes for tasks of rows, errors, limits and health, in front of a real Triton."""

from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from tests.gateway.conftest import gateway
from trireme.cli.app import app
from trireme.serving import Server, ServerSpec, start


def test_classify_names_a_label_for_each_text_and_the_release(door: httpx.Client) -> None:
    answer = door.post("/classify", json={"texts": ["物流很快，质量也好", "用了两天就坏了"], "model_name": "sentiment"})
    assert answer.status_code == 200
    assert answer.headers["x-trireme-release"] == "1"
    results = answer.json()["results"]
    assert len(results) == 2
    assert results[0]["label"] != results[1]["label"]
    alone = door.post("/classify", json={"texts": ["物流很快，质量也好"]}).json()
    assert alone["model_name"] == "sentiment"  # the only one of the task
    assert alone["results"][0]["score"] == pytest.approx(results[0]["score"], abs=1e-3)


def test_every_task_has_a_route(door: httpx.Client) -> None:
    assert door.get("/v1/pipelines").json() == [{"name": "sentiment", "task": "text-classification"}]
    answer = door.post("/v1/pipelines/sentiment/text-classification", json={"texts": ["很好"], "key": "me"})
    (found,) = answer.json()["answers"]
    assert found["release"] == 1
    assert sum(found["scores"]) == pytest.approx(1, abs=1e-3)
    assert [model["id"] for model in door.get("/v1/models").json()["data"]] == ["sentiment"]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/classify", {"texts": []}, 400, "1 to 1,024 texts"),
        ("/classify", {"texts": ["a"] * 1025}, 400, "not 1,025"),
        ("/classify", {"texts": "a"}, 400, "texts: "),
        ("/classify", {"texts": ["a"], "model_name": "none"}, 404, "it serves none of that name"),
        ("/classify", {"texts": ["a"], "model_name": "sentiment_encoder"}, 404, "sentiment_encoder"),
        ("/classify", {"texts": ["a"], "max_length": 64}, 400, "max_length"),
        ("/classify", {"texts": ["a"], "speed": 3}, 400, "speed"),
        ("/v1/embeddings", {"model": "sentiment", "input": "a"}, 400, "its task is text-classification"),
        ("/v1/completions", {"model": "sentiment", "prompt": "a"}, 400, "its task is text-classification"),
        ("/v1/pipelines/sentiment/flying", {"texts": ["a"]}, 400, "there is no task 'flying'"),
        (
            "/v1/pipelines/sentiment/text-classification",
            {"texts": ["a"], "pairs": ["b"]},
            400,
            "was given text, text_pair",
        ),
        ("/generate", {"prompt": "a"}, 400, "of text-generation there are: none"),
    ],
)
def test_what_cannot_be_answered_is_told_with_what_is_wrong(
    door: httpx.Client, path: str, body: object, status: int, words: str
) -> None:
    answer = door.post(path, json=body)
    assert answer.status_code == status
    assert words in answer.json()["error"]["message"]


def test_bodies_that_are_no_json_too_long_or_nested_without_end_are_refused(door: httpx.Client) -> None:
    assert door.post("/classify", content=b'{"texts": [').status_code == 400
    assert door.post("/classify", content=b"[" * 100_000).status_code == 400
    long = door.post("/classify", content=b"a" * (5 << 20))
    assert (long.status_code, long.json()["error"]["type"]) == (413, "invalid_request_error")

    def endless() -> "object":
        for _ in range(100):
            yield b"a" * 100_000

    assert door.post("/classify", content=endless()).status_code == 413  # type: ignore[arg-type]
    assert door.get("/nowhere").json()["error"]["code"] == 404
    assert door.get("/health/live").json()["status"] == "ok"


def test_a_requests_id_is_kept_where_it_is_fit_to_be(door: httpx.Client) -> None:
    assert door.get("/health/live", headers={"X-Request-Id": "a-7"}).headers["x-request-id"] == "a-7"
    assert len(door.get("/health/live", headers={"X-Request-Id": "a" * 200}).headers["x-request-id"]) == 32


def test_the_routes_are_described(door: httpx.Client) -> None:
    paths = door.get("/openapi.json").json()["paths"]
    assert {"/classify", "/generate", "/health", "/v1/chat/completions", "/v1/embeddings"} <= paths.keys()


def test_a_dead_server_is_passed_by_and_used_again(served: Server, repository: Path) -> None:
    with start(ServerSpec(repository, 0, 0, 0)) as other, gateway(other.grpc_url, served.grpc_url) as client:
        assert client.get("/health").json()["servers"] == {other.grpc_url: True, served.grpc_url: True}
        other.stop()
        for _ in range(20):
            assert client.post("/classify", json={"texts": ["很好"]}).status_code == 200
        health = client.get("/health")
        assert (health.status_code, health.json()["servers"][other.grpc_url]) == (200, False)


def test_without_any_server_it_is_alive_and_not_ready() -> None:
    with gateway("127.0.0.1:9") as client:
        assert client.get("/health/live").status_code == 200
        assert client.get("/health/ready").status_code == 503
        answer = client.post("/classify", json={"texts": ["很好"], "model_name": "sentiment"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--server", "grpc://127.0.0.1:1", "--host", "0.0.0.0"], "there are no keys yet"),
        (["--server", "http://127.0.0.1:1"], "is no gRPC address"),
    ],
)
def test_what_it_cannot_be_is_refused_at_its_start(options: list[str], words: str) -> None:
    result = CliRunner().invoke(app, ["gateway", *options])
    assert words in str(result.exception)
