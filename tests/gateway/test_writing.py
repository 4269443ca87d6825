"""Routes for pipelines that write: OpenAI's and the articles', whole and streamed, in front of a real Triton."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.gateway.conftest import gateway
from tests.generation.running import running_sequences
from tests.waiting import until
from trireme.serving import Server

pytestmark = [pytest.mark.xdist_group("generation"), pytest.mark.timeout(900)]
PROMPT = "The capital of France is"


@pytest.fixture(scope="module")
def desk(writer: Server) -> Iterator[httpx.Client]:
    """A gateway in front of `writer`."""
    with gateway(writer.grpc_url) as client:
        yield client


def events_of(desk: httpx.Client, path: str, body: dict[str, object]) -> list[dict[str, object]]:
    """The events of a stream; it ends with `[DONE]`."""
    with desk.stream("POST", path, json=body | {"stream": True}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line.removeprefix("data: ") for line in answer.iter_lines() if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def test_completions_whole_and_streamed_are_the_same(desk: httpx.Client) -> None:
    body = {"model": "writer", "prompt": PROMPT, "max_tokens": 8, "temperature": 0}
    answer = desk.post("/v1/completions", json=body)
    whole = answer.json()
    assert answer.headers["x-trireme-release"] == "1"
    assert whole["choices"][0]["text"].startswith(" Paris")
    assert whole["usage"] == {"prompt_tokens": 5, "completion_tokens": 8, "total_tokens": 13}
    events = events_of(desk, "/v1/completions", body | {"stream_options": {"include_usage": True}})
    assert "".join(event["choices"][0]["text"] for event in events[:-1]) == whole["choices"][0]["text"]
    assert (events[-1]["choices"], events[-1]["usage"]) == ([], whole["usage"])
    assert events[-2]["choices"][0]["finish_reason"] == "length"
    assert {event["id"] for event in events} == {events[0]["id"]}


def test_chats_whole_and_streamed_are_the_same(desk: httpx.Client) -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "What is two plus two?"}]}]
    body = {"model": "writer", "messages": messages, "max_completion_tokens": 12, "temperature": 0}
    whole = desk.post("/v1/chat/completions", json=body).json()
    assert whole["object"] == "chat.completion"
    events = events_of(desk, "/v1/chat/completions", body)
    assert events[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    text = "".join(event["choices"][0]["delta"]["content"] for event in events)
    assert text == whole["choices"][0]["message"]["content"]


def test_several_prompts_and_answers_have_an_index_each(desk: httpx.Client) -> None:
    body = {"model": "writer", "prompt": [PROMPT, "Once"], "n": 2, "max_tokens": 4, "seed": 5, "echo": True}
    whole = desk.post("/v1/completions", json=body).json()
    assert [choice["index"] for choice in whole["choices"]] == [0, 1, 2, 3]
    assert whole["choices"][1]["text"].startswith(PROMPT)
    assert whole["choices"][3]["text"].startswith("Once")
    events = events_of(desk, "/v1/completions", body)
    assert {event["choices"][0]["index"] for event in events} == {0, 1, 2, 3}


def test_log_probabilities_schemas_and_stops_go_through(desk: httpx.Client) -> None:
    told = desk.post("/v1/completions", json={"model": "writer", "prompt": PROMPT, "max_tokens": 3, "logprobs": 1})
    assert len(told.json()["choices"][0]["logprobs"]["token_logprobs"]) == 3
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}
    asked = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    body = {"model": "writer", "messages": [{"role": "user", "content": "Yes?"}], "response_format": asked}
    answer = desk.post("/v1/chat/completions", json=body | {"max_tokens": 60, "temperature": 0})
    assert isinstance(json.loads(answer.json()["choices"][0]["message"]["content"])["a"], bool)
    body = {"model": "writer", "prompt": "1, 2, 3,", "max_tokens": 20, "temperature": 0, "stop": ","}
    stopped = desk.post("/v1/completions", json=body)
    assert "," not in stopped.json()["choices"][0]["text"]
    assert stopped.json()["choices"][0]["finish_reason"] == "stop"


def test_generate_is_the_articles_route(desk: httpx.Client) -> None:
    body = {"prompt": PROMPT, "max_tokens": 8, "temperature": 0}
    whole = desk.post("/generate", json=body).json()
    assert whole["model_name"] == "writer"
    events = events_of(desk, "/generate", body)
    assert "".join(str(event["text"]) for event in events) == whole["text"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "wizard", "content": "x"}]}, "role must be one of"),
        ({"messages": [{"role": "user", "content": "x"}], "max_tokens": 0}, "max_tokens"),
        ({"messages": [{"role": "user", "content": "x"}], "stream_options": {}}, "set stream"),
        ({"messages": [{"role": "user", "content": "x " * 9000}]}, "the model takes"),
        ({"messages": [{"role": "user", "content": "x " * 9000}], "stream": True}, "the model takes"),
        ({"messages": [{"role": "user", "content": "x"}], "response_format": {"type": "xml"}}, "response_format"),
        ({"messages": [{"role": "user", "content": "x"}], "tools": []}, "tools"),
    ],
)
def test_a_conversation_that_cannot_be_answered_is_refused_with_a_status(
    desk: httpx.Client, body: dict[str, object], words: str
) -> None:
    answer = desk.post("/v1/chat/completions", json={"model": "writer"} | body)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


def test_a_reader_who_leaves_frees_the_sequence_long_before_its_end(desk: httpx.Client, writer: Server) -> None:
    body = {"model": "writer", "prompt": "Once", "max_tokens": 3000, "ignore_eos": True}
    with desk.stream("POST", "/v1/completions", json=body | {"stream": True}) as answer:
        next(answer.iter_lines())
    until(lambda: not running_sequences(writer), 4)
    with pytest.raises(httpx.ReadTimeout):
        desk.post("/v1/completions", json=body, timeout=0.5)
    until(lambda: not running_sequences(writer), 4)
