"""The Tritons behind a gateway: each request goes to the one with the fewest under way, and past one that is dead."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeVar

from text_runtime.tasks import Outputs
from text_runtime.tasks.text_generation import Generation, Piece
from trireme.admin import Administrator, Deadlines, Endpoint
from trireme.client import AsyncClient, Retries
from trireme.contract.naming import names_side, step_named
from trireme.errors import NoTaskError, ServerError, UnavailableError, UnknownPipelineError

Result = TypeVar("Result")
_LOOK_EVERY_S = 1.0
_LOOK_TIMEOUT_S = 2.0


class _Server:
    """One Triton: its clients by pipeline, and how much it has to do."""

    def __init__(self, endpoint: Endpoint, timeout_s: float) -> None:
        self.location = endpoint.grpc
        self.in_flight = 0
        self.is_up = True
        self._timeout_s = timeout_s
        self._clients: dict[str, AsyncClient] = {}
        self._administrator = Administrator(endpoint, Deadlines(ask_s=_LOOK_TIMEOUT_S))

    def client(self, pipeline: str) -> AsyncClient:
        """The client of a pipeline; going on to another server is how this fleet tries again."""
        if pipeline not in self._clients:
            address = f"grpc://{self.location}"
            self._clients[pipeline] = AsyncClient(address, pipeline, self._timeout_s, Retries(attempts=1))
        return self._clients[pipeline]

    async def look(self) -> bool:
        """Whether it answers."""
        try:
            self.is_up = await asyncio.to_thread(self._administrator.is_live)
        except ServerError:
            self.is_up = False
        return self.is_up

    async def models(self) -> list[str]:
        """Names of the models that are loaded; none where it does not tell."""
        try:
            index = await asyncio.to_thread(self._administrator.index)
        except ServerError:
            return []
        return sorted({model.name for model in index if model.is_ready})

    async def close(self) -> None:
        """Close every connection."""
        self._administrator.close()
        for client in self._clients.values():
            await client.close()


class Fleet:
    """All of them. Use it in an `async with` statement, which looks after those that are down.

    Args:
        servers: the Tritons.
        offered: names of the pipelines that may be asked; empty for every one.
        timeout_s: the longest that a request may take.
    """

    def __init__(self, servers: Sequence[Endpoint], offered: Sequence[str], timeout_s: float) -> None:
        self._endpoints = tuple(servers)
        self._offered = tuple(offered)
        self._timeout_s = timeout_s
        self._servers: list[_Server] = []
        self._tasks: dict[str, str] = {}
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Fleet":
        self._servers = [_Server(endpoint, self._timeout_s) for endpoint in self._endpoints]
        self._watch = asyncio.create_task(self._look_again())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._watch is not None
        self._watch.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._watch
        for server in self._servers:
            await server.close()

    async def states(self) -> dict[str, bool]:
        """Each server's location, and whether it is ready now."""
        found = await asyncio.gather(*(server.look() for server in self._servers))
        return {server.location: is_up for server, is_up in zip(self._servers, found, strict=True)}

    async def pipelines(self) -> dict[str, str]:
        """The pipelines on offer and their tasks, those that do not answer left out."""
        names = self._offered or await self._listed()
        found: dict[str, str] = {}
        for name in names:
            with contextlib.suppress(NoTaskError, UnknownPipelineError, UnavailableError):
                found[name] = await self.task_of(name)
        return found

    async def task_of(self, pipeline: str) -> str:
        """A pipeline's task.

        Raises:
            UnknownPipelineError: none of that name is on offer.
            NoTaskError: the model is no pipeline.
            UnavailableError: no server answers.
        """
        if (self._offered and pipeline not in self._offered) or names_side(pipeline):
            raise UnknownPipelineError(pipeline, "the gateway")
        if pipeline not in self._tasks:
            self._tasks[pipeline] = await self._run(pipeline, lambda client: client.task_name())
        return self._tasks[pipeline]

    async def infer(self, pipeline: str, columns: dict[str, list[str]], key: str | None) -> Outputs:
        """A pipeline's raw outputs. Asked on another server where one is gone: an answer changes nothing."""
        return await self._run(pipeline, lambda client: client.infer(columns, key=key))

    async def write(self, pipeline: str, ask: Callable[[AsyncClient], Awaitable[Generation]]) -> Generation:
        """A whole answer of a pipeline that writes."""
        return await self._run(pipeline, ask)

    async def stream(self, pipeline: str, begin: Callable[[AsyncClient], AsyncGenerator[Piece, None]]) -> "PieceStream":
        """An answer's pieces, of which the first is there already; until then another server may be asked.

        Close it.
        """

        async def first_of(client: AsyncClient) -> tuple[Piece, AsyncGenerator[Piece, None]]:
            pieces = begin(client)
            try:
                return await anext(pieces), pieces
            except BaseException:
                await pieces.aclose()
                raise

        server, (first, rest) = await self._begun(pipeline, first_of)
        return PieceStream(server, first, rest)

    async def _run(self, pipeline: str, ask: Callable[[AsyncClient], Awaitable[Result]]) -> Result:
        _, result = await self._begun(pipeline, ask)
        return result

    async def _begun(self, pipeline: str, ask: Callable[[AsyncClient], Awaitable[Result]]) -> tuple[_Server, Result]:
        """Ask the servers one after the other, the least busy first, until one answers; gives it and its answer."""
        failure: UnavailableError | None = None
        for server in sorted(self._servers, key=lambda each: (not each.is_up, each.in_flight)):
            server.in_flight += 1
            try:
                return server, await ask(server.client(pipeline))
            except UnavailableError as error:
                failure, server.is_up = error, False
            finally:
                server.in_flight -= 1
        assert failure is not None
        raise failure

    async def _listed(self) -> list[str]:
        for server in self._servers:
            if names := await server.models():
                return [name for name in names if not (step_named(name) or names_side(name))]
        return []

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            for server in self._servers:
                if not server.is_up:
                    await server.look()


class PieceStream:
    """An answer that has begun: its pieces, the first among them. Count it as under way until it is closed."""

    def __init__(self, server: _Server, first: Piece, rest: AsyncGenerator[Piece, None]) -> None:
        self.first = first
        self._rest = rest
        self._server = server
        self._is_open = True
        server.in_flight += 1

    async def pieces(self) -> AsyncGenerator[Piece, None]:
        """All of them, once."""
        yield self.first
        async for piece in self._rest:
            yield piece

    async def aclose(self) -> None:
        """Cancel what is not written yet. Safe to call twice."""
        if self._is_open:
            self._is_open = False
            self._server.in_flight -= 1
            await self._rest.aclose()
