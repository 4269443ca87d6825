"""Streams for callers who wait: over gRPC and HTTP, each on a call of its own that ends when its iterator is closed."""

import http.client
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from contextlib import closing

import grpc
from tritonclient.grpc import service_pb2_grpc

from trireme.client.address import Address
from trireme.client.channels import CHANNEL
from trireme.client.event_streams import body_of, error_of, path_of, whole_events
from trireme.client.exchange import Call
from trireme.client.pieces import Fields
from trireme.client.stream_failures import translated_stream
from trireme.machine.grpc_streams import Inputs, fields_of, results, stream_request

_READ_BYTES = 1 << 16


class StreamTransport(ABC):
    """Asks one server for streams, from any number of threads. Raises as `translated_stream` does."""

    def __init__(self, location: str) -> None:
        self._location = location

    @abstractmethod
    def stream(self, call: Call, inputs: Inputs) -> Generator[Fields, None, None]:
        """The responses to one request, as they come. Closing the iterator cancels it."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection. Streams under way break."""


class GrpcStreams(StreamTransport):
    """ModelStreamInfer, a call for each stream, all over one channel."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._channel = grpc.insecure_channel(location, options=CHANNEL)
        self._stub = service_pb2_grpc.GRPCInferenceServiceStub(self._channel)

    def stream(self, call: Call, inputs: Inputs) -> Generator[Fields, None, None]:
        """See the base class."""
        request = stream_request(call.pipeline, inputs, parameters=call.parameters)
        with translated_stream(self._location, call):
            responses = self._stub.ModelStreamInfer(iter([request]), timeout=call.remaining_s)
            try:
                yield from (fields for result in results(responses) if (fields := fields_of(result)))
            except GeneratorExit:
                responses.cancel()
                raise

    def close(self) -> None:
        """See the base class."""
        self._channel.close()


class HttpStreams(StreamTransport):
    """Server-sent events, a connection for each stream: closing it is how HTTP cancels."""

    def stream(self, call: Call, inputs: Inputs) -> Generator[Fields, None, None]:
        """See the base class."""
        with translated_stream(self._location, call):
            connection = http.client.HTTPConnection(self._location, timeout=call.remaining_s)
            with closing(connection):
                connection.request("POST", path_of(call), body_of(call, inputs), {"Content-Type": "application/json"})
                response = connection.getresponse()
                if response.status != http.client.OK:
                    raise http.client.HTTPException(response.status, error_of(response.read()))
                yield from whole_events(_chunks(connection, response, call))

    def close(self) -> None:
        """See the base class. There is no connection beside those of its streams."""


def _chunks(connection: http.client.HTTPConnection, response: http.client.HTTPResponse, call: Call) -> Iterator[bytes]:
    """What has come so far, again and again, within the call's time."""
    ends = call.started + call.timeout_s
    while True:
        if time.monotonic() > ends:
            raise TimeoutError
        if connection.sock is not None:
            connection.sock.settimeout(call.remaining_s)
        chunk = response.read1(_READ_BYTES)
        if not chunk:
            return
        yield chunk


def sync_streams(address: Address) -> StreamTransport:
    """The transport that speaks an address's protocol."""
    return (GrpcStreams if address.is_grpc else HttpStreams)(address.location)
