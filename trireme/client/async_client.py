"""Asks one pipeline from asyncio."""

from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any

from tenacity import AsyncRetrying

from text_runtime.tasks import AsyncAsker, Question, TaskMethods, text_generation
from text_runtime.tasks.answers import Result
from text_runtime.tasks.text_generation import Generation, Piece, Writing, WritingMethods, whole
from trireme.client.address import Address
from trireme.client.async_streams import async_streams
from trireme.client.async_transports import async_transport
from trireme.client.columns import checked, require_texts
from trireme.client.exchange import Call, Columns, Outputs, Reply, Request, Signature, joined, requests_of
from trireme.client.pieces import Fields, broken_off, piece_from, require_end
from trireme.client.retries import Retries
from trireme.client.settings import ClientSettings


class AsyncClient(
    TaskMethods, AsyncAsker, WritingMethods[Coroutine[Any, Any, Generation], AsyncGenerator[Piece, None]]
):
    """`Client` for asyncio: the same methods and errors, to be awaited, in one event loop.

    One call's requests travel one after the other; any number of calls travel at once.
    """

    def __init__(
        self, address: Address | str, pipeline: str, timeout_s: float = 30.0, retries: Retries | None = None
    ) -> None:
        self._settings = ClientSettings.of(address, pipeline, timeout_s, retries)
        self._transport = async_transport(self._settings.address)
        self._streams = async_streams(self._settings.address)
        self._signature: Signature | None = None

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection."""
        await self._transport.close()
        await self._streams.close()

    async def ask(self, question: Question[Result]) -> Result:
        """Ask what a task's method asks, and decode what comes."""
        columns = checked(question.columns)
        call = self._settings.call(question.key, question.timeout_s, question.prompt)
        self._settings.require_task(await self._described(call), question.task_name)
        return question.decode(await self._infer(columns, call))

    async def infer(
        self,
        columns: Columns,
        *,
        prompt: str | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
    ) -> Outputs:
        """A pipeline's raw outputs, whatever its task: for each input one text a row."""
        return await self._infer(columns, self._settings.call(key, timeout_s, prompt))

    async def write_whole(self, asked: Writing) -> Generation:
        """See the base class."""
        return whole([piece async for piece in self.write_pieces(asked)])

    async def task_name(self) -> str:
        """The pipeline's task, as the server's metadata tells it. Raises as `Client.task_name` does."""
        return self._settings.task_of(await self._described(self._settings.call()))

    async def _infer(self, columns: Columns, call: Call) -> Outputs:
        replies = [await self._send(request) for request in requests_of(call, columns)]
        return joined(replies, await self._described(call))

    async def _send(self, request: Request) -> Reply:
        return await AsyncRetrying(**self._settings.retries.options(request.call))(self._transport.infer, request)

    async def write_pieces(self, asked: Writing) -> AsyncGenerator[Piece, None]:
        """The pieces of one answer. Until the first is there, what is safe to try again is tried again."""
        require_texts(asked.inputs)
        call = self._settings.call(asked.key, asked.timeout_s)
        self._settings.require_task(await self._described(call), text_generation.NAME)
        retrying = AsyncRetrying(**self._settings.retries.options(call))
        begun: tuple[Piece, AsyncGenerator[Fields, None]] = await retrying(self._begun, call, asked)
        piece, rest = begun
        async with aclosing(rest):
            yield piece
            async for fields in rest:
                piece = piece_from(fields)
                yield piece
        require_end(piece, self._settings.address.location)

    async def _begun(self, call: Call, asked: Writing) -> tuple[Piece, AsyncGenerator[Fields, None]]:
        """The first piece of a stream, and the responses that follow."""
        responses = self._streams.stream(call, asked.inputs)
        async for fields in responses:
            return piece_from(fields), responses
        raise broken_off(self._settings.address.location)

    async def _described(self, call: Call) -> Signature:
        """What the pipeline takes and gives: asked once, since a contract never changes."""
        if self._signature is not None:
            return self._signature
        retrying = AsyncRetrying(**self._settings.retries.options(call))
        signature: Signature = await retrying(self._transport.signature, call)
        self._signature = signature
        return signature
