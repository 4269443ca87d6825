"""Streams for asyncio: over gRPC and HTTP, each on a call of its own that ends when its iterator is closed."""

import asyncio
import http.client
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any

import aiohttp
import grpc.aio
from tritonclient.grpc import service_pb2_grpc

from trireme.client.address import Address
from trireme.client.channels import CHANNEL
from trireme.client.event_streams import Events, body_of, error_of, path_of
from trireme.client.exchange import Call
from trireme.client.pieces import Fields
from trireme.client.stream_failures import translated_stream
from trireme.machine.grpc_streams import Inputs, checked_result, fields_of, stream_request


class AsyncStreamTransport(ABC):
    """Asks one server for streams, in one event loop. Raises as `translated_stream` does."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._opened: Any = None

    @abstractmethod
    def stream(self, call: Call, inputs: Inputs) -> AsyncGenerator[Fields, None]:
        """The responses to one request, as they come. Closing the iterator cancels it."""

    async def close(self) -> None:
        """Close the connection."""
        if self._opened is not None:
            await self._opened.close()


class AsyncGrpcStreams(AsyncStreamTransport):
    """ModelStreamInfer, a call for each stream, all over one channel that the first stream opens."""

    async def stream(self, call: Call, inputs: Inputs) -> AsyncGenerator[Fields, None]:
        """See the base class."""
        if self._opened is None:
            self._opened = grpc.aio.insecure_channel(self._location, options=CHANNEL)
        request = stream_request(call.pipeline, inputs, parameters=call.parameters)
        with translated_stream(self._location, call):
            stub = service_pb2_grpc.GRPCInferenceServiceStub(self._opened)
            responses = stub.ModelStreamInfer(iter([request]), timeout=call.remaining_s)
            try:
                async for response in responses:
                    if response.error_message:
                        await _wait_for_end(responses)
                    if fields := fields_of(checked_result(response)):
                        yield fields
            except (GeneratorExit, asyncio.CancelledError):
                responses.cancel()
                raise


async def _wait_for_end(responses: AsyncIterator[Any]) -> None:
    """Read a call that has failed to its end; `results` says why."""
    with suppress(grpc.RpcError):  # the failure is known already
        async for _ in responses:
            pass


class AsyncHttpStreams(AsyncStreamTransport):
    """Server-sent events, a connection for each stream."""

    async def stream(self, call: Call, inputs: Inputs) -> AsyncGenerator[Fields, None]:
        """See the base class."""
        if self._opened is None:
            self._opened = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        events = Events()
        with translated_stream(self._location, call):
            url, limit = f"http://{self._location}{path_of(call)}", aiohttp.ClientTimeout(total=call.remaining_s)
            async with self._opened.post(url, data=body_of(call, inputs), timeout=limit) as response:
                if response.status != http.client.OK:
                    raise http.client.HTTPException(response.status, error_of(await response.read()))
                async for chunk in response.content.iter_any():
                    for fields in events.feed(chunk):
                        yield fields


def async_streams(address: Address) -> AsyncStreamTransport:
    """The transport that speaks an address's protocol."""
    return (AsyncGrpcStreams if address.is_grpc else AsyncHttpStreams)(address.location)
