"""OpenAI's routes: models, embeddings, completions and chat, whole and as server-sent events."""

import asyncio
import base64
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import orjson
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from text_runtime.tasks.embedding import Embedding
from text_runtime.tasks.text_generation import Generation, Piece, TokenLogprob
from text_runtime.tensors import TEXT
from trireme.gateway.answers import answers_of, json_response
from trireme.gateway.failures import BadRequest, content_of, told
from trireme.gateway.fleet import PieceStream
from trireme.gateway.writing import EventStream, Prompt, SamplingFields, Written, opened, whole_answers

router = APIRouter(prefix="/v1", tags=["openai"])
_MOST_ANSWERS = 64
_DONE = b"data: [DONE]\n\n"


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
    form = _Form("cmpl", "text_completion", asked.model, prompts if asked.echo else [], asked.n)
    return await _answered(request, asked, _Requests(prompts, sampling), form)


@router.post("/chat/completions")
async def chat(request: Request, asked: Chat) -> Response:
    """The next turn of a conversation."""
    asked.require_stream_options_fit()
    sampling = asked.sampling() | ({"logprobs": 1} if asked.logprobs else {})
    if asked.max_completion_tokens is not None:
        sampling["max_tokens"] = asked.max_completion_tokens
    form = _ChatForm("chatcmpl", "chat.completion", asked.model, [], asked.n)
    return await _answered(request, asked, _Requests([asked.messages], sampling), form)


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


@dataclass
class _Form:
    """How answers and their pieces look in one route. `echoed` are the prompts that stand before the answers."""

    prefix: str
    kind: str
    model: str
    echoed: Sequence[str]
    answers_a_prompt: int
    created: int = field(default_factory=lambda: int(time.time()))
    id: str = ""

    def __post_init__(self) -> None:
        self.id = f"{self.prefix}-{uuid.uuid4().hex[:24]}"

    def whole(self, index: int, answer: Generation) -> dict[str, Any]:
        """A whole answer as a choice."""
        text = self._echo(index) + answer.text
        return _choice(index, answer.finish_reason, _flat(answer.logprobs), text=text)

    def begin(self, index: int) -> list[dict[str, Any]]:
        """What a stream tells of an answer before its first piece."""
        echo = self._echo(index)
        return [_choice(index, None, None, text=echo)] if echo else []

    def piece(self, index: int, piece: Piece) -> dict[str, Any]:
        """A piece as a choice of a chunk."""
        return _choice(index, piece.finish_reason or None, _flat(piece.logprobs), text=piece.text)

    def content(self, choices: list[dict[str, Any]], is_chunk: bool, **more: Any) -> dict[str, Any]:
        """The object around choices."""
        return {"id": self.id, "object": self._object(is_chunk), "created": self.created, "model": self.model,
                "choices": choices, **more}  # fmt: skip

    def _object(self, is_chunk: bool) -> str:
        return self.kind

    def _echo(self, index: int) -> str:
        return self.echoed[index // self.answers_a_prompt] if self.echoed else ""


class _ChatForm(_Form):
    """The same for turns of a conversation."""

    def whole(self, index: int, answer: Generation) -> dict[str, Any]:
        """See the base class."""
        message = {"role": "assistant", "content": answer.text, "refusal": None}
        return _choice(index, answer.finish_reason, _nested(answer.logprobs), message=message)

    def begin(self, index: int) -> list[dict[str, Any]]:
        """See the base class."""
        return [_choice(index, None, None, delta={"role": "assistant", "content": ""})]

    def piece(self, index: int, piece: Piece) -> dict[str, Any]:
        """See the base class."""
        delta = {"content": piece.text}
        return _choice(index, piece.finish_reason or None, _nested(piece.logprobs), delta=delta)

    def _object(self, is_chunk: bool) -> str:
        return f"{self.kind}.chunk" if is_chunk else self.kind


async def _answered(request: Request, asked: Asked, requests: _Requests, form: _Form) -> Response:
    written = requests.written(asked)
    if asked.stream:
        return await _streamed(request, asked, written, form)
    answers, headers = await whole_answers(request, written)
    choices = [form.whole(index, answer) for index, answer in enumerate(answers)]
    content = form.content(choices, is_chunk=False, usage=_usage(answers, form.answers_a_prompt))
    return json_response(content, headers)


def _usage(answers: Sequence[Piece], answers_a_prompt: int, completion_tokens: int | None = None) -> dict[str, int]:
    """Tokens of all prompts, each counted once, and of all answers."""
    prompt = sum(answer.num_input_tokens for answer in answers[::answers_a_prompt])
    written = sum(answer.num_output_tokens for answer in answers) if completion_tokens is None else completion_tokens
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


async def _streamed(request: Request, asked: Asked, written: Sequence[Written], form: _Form) -> Response:
    """All answers in one stream, each piece as it comes with its answer's index."""
    streams, headers = await opened(request, written)
    is_counted = asked.stream_options is not None and asked.stream_options.include_usage
    return EventStream(_events(streams, form, is_counted), streams, headers)


async def _events(streams: Sequence[PieceStream], form: _Form, is_counted: bool) -> AsyncGenerator[bytes, None]:
    extra = {"usage": None} if is_counted else {}
    tokens = 0

    def chunk(choices: list[dict[str, Any]], **more: Any) -> bytes:
        return b"data: " + orjson.dumps(form.content(choices, is_chunk=True, **{**extra, **more})) + b"\n\n"

    for index in range(len(streams)):
        for choice in form.begin(index):
            yield chunk([choice])
    async for index, found in _merged(streams):
        if isinstance(found, Exception):
            status, content = told(found)
            yield b"data: " + orjson.dumps(content or content_of(str(found), status)) + b"\n\n"
            break
        tokens += found.num_output_tokens
        yield chunk([form.piece(index, found)])
    else:
        if is_counted:
            firsts = [stream.first for stream in streams]
            yield chunk([], usage=_usage(firsts, form.answers_a_prompt, tokens))
    yield _DONE


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


def _choice(index: int, finish_reason: str | None, logprobs: Any, **content: Any) -> dict[str, Any]:
    return {"index": index, **content, "logprobs": logprobs, "finish_reason": finish_reason}


def _flat(logprobs: Sequence[TokenLogprob]) -> dict[str, Any] | None:
    """Log-probabilities as completions tell them."""
    if not logprobs:
        return None
    tokens = [each.token for each in logprobs]
    places = [sum(map(len, tokens[:index])) for index in range(len(tokens))]
    values = [each.logprob for each in logprobs]
    tops = [{each.token: each.logprob} for each in logprobs]
    return {"tokens": tokens, "token_logprobs": values, "top_logprobs": tops, "text_offset": places}


def _nested(logprobs: Sequence[TokenLogprob]) -> dict[str, Any] | None:
    """Log-probabilities as chats tell them."""
    if not logprobs:
        return None
    told_of: Callable[[TokenLogprob], dict[str, Any]] = lambda each: {  # noqa: E731
        "token": each.token,
        "logprob": each.logprob,
        "bytes": list(each.token.encode()),
        "top_logprobs": [],
    }
    return {"content": [told_of(each) for each in logprobs]}
