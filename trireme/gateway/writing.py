"""Asks a pipeline that writes, for whichever route: whole answers, and streams that end when their reader leaves."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from fastapi import Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.types import Receive, Scope, Send

from text_runtime.generation.sampling import SAMPLING_NAMES
from text_runtime.tasks import text_generation
from text_runtime.tasks.text_generation import Generation, Piece
from trireme.client import AsyncClient
from trireme.gateway.answers import RELEASE, require_task
from trireme.gateway.failures import BadRequest
from trireme.gateway.fleet import Fleet, PieceStream
from trireme.gateway.presence import while_present

Prompt = str | Sequence[Mapping[str, Any]]
_DECIDED_BY_ROUTES = {"logprobs"}
"""Named otherwise in each of OpenAI's routes."""
DONE = b"data: [DONE]\n\n"
"""The last event of every stream."""


class SamplingFields(BaseModel):
    """How the tokens of an answer are chosen, by the names that OpenAI and vLLM give them."""

    max_tokens: int | None = Field(None, ge=1)
    min_tokens: int | None = Field(None, ge=0)
    temperature: float | None = Field(None, ge=0)
    top_p: float | None = Field(None, gt=0, le=1)
    top_k: int | None = None
    min_p: float | None = Field(None, ge=0, le=1)
    seed: int | None = None
    stop: str | list[str] | None = None
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    repetition_penalty: float | None = Field(None, gt=0)
    ignore_eos: bool | None = None
    response_format: dict[str, Any] | None = None

    def sampling(self) -> dict[str, Any]:
        """What is said of it."""
        return self.model_dump(include=set(SAMPLING_NAMES - _DECIDED_BY_ROUTES), exclude_none=True)

    def schema_of(self) -> dict[str, Any] | None:
        """The JSON schema that the answer must meet.

        Raises:
            BadRequest: `response_format` says nothing that is known.
        """
        wanted = self.response_format or {"type": "text"}
        if wanted.get("type") == "text":
            return None
        if wanted.get("type") == "json_object":
            return {"type": "object"}
        named = wanted.get("json_schema")
        schema = named.get("schema") if wanted.get("type") == "json_schema" and isinstance(named, dict) else None
        if not isinstance(schema, dict):
            message = "its type is text, json_object, or json_schema with a json_schema.schema"
            raise BadRequest(f"response_format: {message}", "response_format")
        return schema


@dataclass(frozen=True)
class Written:
    """One answer that is asked for."""

    pipeline: str
    prompt: Prompt
    sampling: dict[str, Any] = field(default_factory=dict)
    schema: dict[str, Any] | None = None
    key: str | None = None

    async def whole(self, client: AsyncClient) -> Generation:
        """The answer, when it is whole."""
        return await client.generate(self.prompt, schema=self.schema, key=self.key, **self.sampling)

    def pieces(self, client: AsyncClient) -> AsyncGenerator[Piece, None]:
        """The answer as it is written."""
        return client.stream(self.prompt, schema=self.schema, key=self.key, **self.sampling)


async def whole_answers(request: Request, wanted: Sequence[Written]) -> tuple[list[Generation], dict[str, str]]:
    """Whole answers of one pipeline, written at once, and the headers that tell its release."""
    fleet: Fleet = request.app.state.fleet
    await require_task(fleet, wanted[0].pipeline, text_generation.NAME)
    writing = asyncio.gather(*(fleet.write(each.pipeline, each.whole) for each in wanted))
    answers = await while_present(request, writing)
    return answers, release_of(answers[0])


async def opened(request: Request, wanted: Sequence[Written]) -> tuple[list[PieceStream], dict[str, str]]:
    """Streams of one pipeline, begun at once, and the headers that tell its release.

    The first piece of each is there, so that what is refused still has a status; where one is, none stays open.
    """
    fleet: Fleet = request.app.state.fleet
    await require_task(fleet, wanted[0].pipeline, text_generation.NAME)
    begun = await while_present(request, _all_begun(fleet, wanted))
    return begun, release_of(begun[0].first)


async def _all_begun(fleet: Fleet, wanted: Sequence[Written]) -> list[PieceStream]:
    tasks = [asyncio.create_task(fleet.stream(each.pipeline, each.pieces)) for each in wanted]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        for stream in found:
            if isinstance(stream, PieceStream):
                await stream.aclose()
        raise


def release_of(piece: Piece) -> dict[str, str]:
    """The header that tells who writes."""
    return {} if piece.release is None else {RELEASE: str(piece.release)}


def event(content: Any) -> bytes:
    """A server-sent event of JSON."""
    return b"data: " + orjson.dumps(content) + b"\n\n"


class EventStream(StreamingResponse):
    """Server-sent events. However it ends, the streams behind it are closed, and with them their sequences freed."""

    def __init__(
        self, events: AsyncGenerator[bytes, None], streams: Sequence[PieceStream], headers: dict[str, str]
    ) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store"} | headers, media_type="text/event-stream")
        self._events = events
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._events.aclose()
            for stream in self._streams:
                await stream.aclose()
