"""The routes that articles on serving ask for: `/classify` and `/generate`."""

from collections.abc import AsyncGenerator
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from text_runtime.tasks import text_generation
from text_runtime.tasks.text_classification import TextClassification
from text_runtime.tensors import TEXT
from trireme.gateway.answers import answers_of, chosen, json_response
from trireme.gateway.failures import BadRequest
from trireme.gateway.writing import DONE, EventStream, SamplingFields, Written, event, opened, whole_answers

router = APIRouter(tags=["articles"])


class Classify(BaseModel, extra="forbid"):
    """Texts to be classified. A release's longest text is fixed, so `max_length` is refused."""

    texts: list[str] = Field(examples=[["物流很快，质量也好", "用了两天就坏了"]])
    model_name: str | None = Field(None, examples=["sentiment"])
    max_length: int | None = None
    user: str | None = None


class Generate(SamplingFields, extra="forbid"):
    """A prompt to be continued, or the messages of a conversation."""

    prompt: str | None = Field(None, examples=["The capital of France is"])
    messages: list[dict[str, Any]] | None = None
    model_name: str | None = Field(None, examples=["writer"])
    stream: bool = False
    user: str | None = None


@router.post("/classify")
async def classify(request: Request, asked: Classify) -> Response:
    """One label for each text, and how sure the model is of it."""
    if asked.max_length is not None:
        raise BadRequest("a release's max_length is fixed when it is exported: leave it out", "max_length")
    name = await chosen(request.app.state.fleet, asked.model_name, TextClassification.name)
    answers, headers = await answers_of(request, name, TextClassification.name, {TEXT.name: asked.texts}, asked.user)
    results = [{"label": each.label, "score": each.score} for each in answers]  # type: ignore[attr-defined]
    return json_response({"model_name": name, "results": results}, headers)


@router.post("/generate")
async def generate(request: Request, asked: Generate) -> Response:
    """What the model writes: whole, or with `stream` as server-sent events of `{"text"}` that end with `[DONE]`."""
    if (asked.prompt is None) == (asked.messages is None):
        raise BadRequest("give one of `prompt` and `messages`", "prompt")
    name = await chosen(request.app.state.fleet, asked.model_name, text_generation.NAME)
    prompt = asked.prompt if asked.messages is None else asked.messages
    wanted = Written(name, prompt or "", asked.sampling(), asked.schema_of(), asked.user)
    if not asked.stream:
        (answer,), headers = await whole_answers(request, [wanted])
        content = {
            "model_name": name,
            "text": answer.text,
            "finish_reason": answer.finish_reason,
            "usage": {"prompt_tokens": answer.num_input_tokens, "completion_tokens": answer.num_output_tokens},
        }
        return json_response(content, headers)
    streams, headers = await opened(request, [wanted])

    async def events() -> AsyncGenerator[bytes, None]:
        async for piece in streams[0].pieces():
            yield event({"text": piece.text})
        yield DONE

    return EventStream(events(), streams, headers)
