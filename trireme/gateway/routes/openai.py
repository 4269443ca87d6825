"""OpenAI's routes: models, embeddings, completions and chat, whole and as server-sent events."""

import asyncio
import base64
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from text_runtime.tasks.embedding import Embedding
from text_runtime.tasks.text_generation import Piece
from text_runtime.tensors import TEXT
from trireme.gateway.answers import answers_of, json_response
from trireme.gateway.completion_forms import ChatForm, CompletionForm
from trireme.gateway.failures import BadRequest, told
from trireme.gateway.fleet import PieceStream
from trireme.gateway.writing import DONE, EventStream, Prompt, SamplingFields, Written, event, opened, whole_answers

router = APIRouter(prefix="/v1", tags=["openai"])
_MOST_ANSWERS = 64


class StreamOptions(BaseModel):
    """What a stream tells beside its text."""

    include_usage: bool = False


class Asked(SamplingFields, extra="forbid"):
    """What both kinds of completion take. Fields that change nothing here are taken and left alone."""

    model: str = Field(examples=["writer"])
    n: int = Field(1, ge=1, le=_MOST_ANSWERS)
    stream: bool = False
    stream_options: StreamOptions | None = None
    user: str | None = None
    metadata: dict[str, Any] | None = None
    store: bool | None = None

    def require_stream_options_fit(self) -> None:
        """Refuse options of a stream where none is asked for."""
        if self.stream_options is not None and not self.stream:
            raise BadRequest("stream_options are for streams: set stream, or leave them out", "stream_options")


class Completions(Asked):
    """A prompt to be continued, or several. 16 tokens, as OpenAI has it, where `max_tokens` is not given."""

    prompt: str | list[str] = Field(examples=["The capital of France is"])
    echo: bool = False
    logprobs: int | None = Field(None, ge=0, le=1)


class Chat(Asked):
    """A conversation to be answered."""

    messages: list[dict[str, Any]] = Field(min_length=1, examples=[[{"role": "user", "content": "Name a river."}]])
    max_completion_tokens: int | None = Field(None, ge=1)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(None, ge=0, le=1)


class Embeddings(BaseModel, extra="forbid"):
    """Texts to be turned into vectors. A release's dimension is its own: any other is refused."""

    model: str = Field(examples=["search"])
    input: str | list[str] = Field(examples=[["怎么退款", "如何申请退款"]])
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: str | None = None


@router.get("/models")
async def list_models(request: Request) -> dict[str, Any]:
    """The pipelines on offer."""
    found = await request.app.state.fleet.pipelines()
    return {"object": "list", "data": [_model(name) for name in found]}


@router.get("/models/{name}")
async def get_model(request: Request, name: str) -> dict[str, Any]:
    """One of them."""
    await request.app.state.fleet.task_of(name)
    return _model(name)


@router.post("/embeddings")
async def embeddings(request: Request, asked: Embeddings) -> Response:
    """A vector for each text."""
    texts = [asked.input] if isinstance(asked.input, str) else asked.input
    answers, headers = await answers_of(request, asked.model, Embedding.name, {TEXT.name: texts}, asked.user)
    vectors = [np.ascontiguousarray(each.embedding, dtype="<f4") for each in answers]  # type: ignore[attr-defined]
    if asked.dimensions not in (None, len(vectors[0])):
        raise BadRequest(f"{asked.model} has {len(vectors[0])} dimensions, and no others", "dimensions")
    if asked.encoding_format == "base64":
        rows: list[Any] = [base64.b64encode(vector.tobytes()).decode() for vector in vectors]
    else:
        rows = list(vectors)
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    return json_response({"object": "list", "model": asked.model, "data": data}, headers)


@router.post("/completions")
async def completions(request: Request, asked: Completions) -> Response:
    """What the model writes after a prompt."""
    asked.require_stream_options_fit()
    prompts = [asked.prompt] if isinstance(asked.prompt, str) else asked.prompt
    sampling = {"max_tokens": 16} | asked.sampling() | ({"logprobs": 1} if asked.logprobs is not None else {})
    form = CompletionForm(asked.model, asked.n, prompts if asked.echo else [])
    return await _answered(request, asked, _Requests(prompts, sampling), form)


@router.post("/chat/completions")
async def chat(request: Request, asked: Chat) -> Response:
    """The next turn of a conversation."""
    asked.require_stream_options_fit()
    sampling = asked.sampling() | ({"logprobs": 1} if asked.logprobs else {})
    if asked.max_completion_tokens is not None:
        sampling["max_tokens"] = asked.max_completion_tokens
    return await _answered(request, asked, _Requests([asked.messages], sampling), ChatForm(asked.model, asked.n))


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "trireme"}


@dataclass(frozen=True)
class _Requests:
    """The prompts of one call, and how they are answered."""

    prompts: Sequence[Prompt]
    sampling: dict[str, Any]

    def written(self, asked: Asked) -> list[Written]:
        """A request for each answer: `n` to each prompt, whose seeds differ where one is given."""
        total = len(self.prompts) * asked.n
        if not 0 < total <= _MOST_ANSWERS:
            raise BadRequest(f"a call asks for 1 to {_MOST_ANSWERS} answers, not {total}", "n")
        seed = self.sampling.get("seed")
        seeds = [{} if seed is None else {"seed": seed + number} for number in range(asked.n)]
        schema = asked.schema_of()
        return [
            Written(asked.model, prompt, self.sampling | own, schema, asked.user)
            for prompt in self.prompts
            for own in seeds
        ]


async def _answered(request: Request, asked: Asked, requests: _Requests, form: CompletionForm) -> Response:
    written = requests.written(asked)
    if asked.stream:
        return await _streamed(request, asked, written, form)
    answers, headers = await whole_answers(request, written)
    written_tokens = sum(answer.num_output_tokens for answer in answers)
    choices = [form.whole(index, answer) for index, answer in enumerate(answers)]
    content = form.content(choices, is_chunk=False, usage=form.usage(answers, written_tokens))
    return json_response(content, headers)


async def _streamed(request: Request, asked: Asked, written: Sequence[Written], form: CompletionForm) -> Response:
    """All answers in one stream, each piece as it comes with its answer's index."""
    streams, headers = await opened(request, written)
    is_counted = asked.stream_options is not None and asked.stream_options.include_usage
    return EventStream(_events(streams, form, is_counted), streams, headers)


async def _events(
    streams: Sequence[PieceStream], form: CompletionForm, is_counted: bool
) -> AsyncGenerator[bytes, None]:
    extra = {"usage": None} if is_counted else {}
    tokens = 0

    def chunk(choices: list[dict[str, Any]], **more: Any) -> bytes:
        return event(form.content(choices, is_chunk=True, **{**extra, **more}))

    for index in range(len(streams)):
        for choice in form.begin(index):
            yield chunk([choice])
    async for index, found in _merged(streams):
        if isinstance(found, Exception):
            _, content = told(found)
            yield event(content)
            break
        tokens += found.num_output_tokens
        yield chunk([form.piece(index, found)])
    else:
        if is_counted:
            yield chunk([], usage=form.usage([stream.first for stream in streams], tokens))
    yield DONE


async def _merged(streams: Sequence[PieceStream]) -> AsyncGenerator[tuple[int, Piece | Exception], None]:
    """The pieces of all streams as they come; the error of one ends it, and is the last that comes."""
    queue: asyncio.Queue[tuple[int, Piece | Exception | None]] = asyncio.Queue(maxsize=2 * len(streams))

    async def read(index: int, stream: PieceStream) -> None:
        try:
            async for piece in stream.pieces():
                await queue.put((index, piece))
            await queue.put((index, None))
        except Exception as error:
            await queue.put((index, error))

    tasks = [asyncio.create_task(read(*each)) for each in enumerate(streams)]
    try:
        live = len(tasks)
        while live:
            index, found = await queue.get()
            if found is None:
                live -= 1
                continue
            yield index, found
            if isinstance(found, Exception):
                return
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
