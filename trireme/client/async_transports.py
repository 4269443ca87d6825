"""Sends requests without blocking: one transport for HTTP, one for gRPC, each for one event loop."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import aiohttp
import tritonclient.grpc.aio as triton_grpc
import tritonclient.http.aio as triton_http

from trireme.client.address import Address
from trireme.client.channels import CHANNEL
from trireme.client.exchange import Call, Reply, Request, Signature
from trireme.client.failures import Attempt, translated
from trireme.client.wires import GRPC, HTTP


class AsyncTransport(ABC):
    """A connection to one server, opened by the first call, in that call's event loop. Raises as `failures.translated`
    does."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._opened: Any = None

    @abstractmethod
    async def signature(self, call: Call) -> Signature:
        """Ask what the call's pipeline takes and gives."""

    @abstractmethod
    async def infer(self, request: Request) -> Reply:
        """Send one request."""

    async def close(self) -> None:
        """Close the connection."""
        if self._opened is not None:
            await self._opened.close()

    @abstractmethod
    def _open(self) -> Any:
        """Make tritonclient's client; needs a running loop."""

    @property
    def _client(self) -> Any:
        if self._opened is None:
            self._opened = self._open()
        return self._opened


class AsyncHttpTransport(AsyncTransport):
    """HTTP with binary tensors, up to a hundred connections."""

    async def signature(self, call: Call) -> Signature:
        """See the base class."""
        with translated(Attempt(self._location, call), (OSError, aiohttp.ClientError)):
            question = self._client.get_model_metadata(call.pipeline)
            return HTTP.signature(await asyncio.wait_for(question, call.remaining_s))

    async def infer(self, request: Request) -> Reply:
        """See the base class."""
        query = HTTP.query(request)
        with translated(Attempt(self._location, request.call, request), (OSError, aiohttp.ClientError)):
            return HTTP.reply(await asyncio.wait_for(self._client.infer(**query), request.call.remaining_s))

    def _open(self) -> Any:
        return triton_http.InferenceServerClient(self._location, conn_timeout=None)


class AsyncGrpcTransport(AsyncTransport):
    """gRPC over a channel of its own."""

    async def signature(self, call: Call) -> Signature:
        """See the base class."""
        with translated(Attempt(self._location, call), ()):
            question = self._client.get_model_metadata(call.pipeline, client_timeout=call.remaining_s)
            return GRPC.signature(await question)

    async def infer(self, request: Request) -> Reply:
        """See the base class."""
        query = GRPC.query(request)
        with translated(Attempt(self._location, request.call, request), ()):
            return GRPC.reply(await self._client.infer(**query, client_timeout=request.call.remaining_s))

    def _open(self) -> Any:
        return triton_grpc.InferenceServerClient(self._location, channel_args=CHANNEL)


def async_transport(address: Address) -> AsyncTransport:
    """The transport that speaks an address's protocol."""
    kind: Callable[[str], AsyncTransport] = AsyncGrpcTransport if address.is_grpc else AsyncHttpTransport
    return kind(address.location)
