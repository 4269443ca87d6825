"""Sends requests and waits: one transport for HTTP, one for gRPC."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import gevent
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton_http
from geventhttpclient.response import HTTPParseError
from tritonclient.utils import InferenceServerException

from trireme.client.address import Address
from trireme.client.channels import CHANNEL
from trireme.client.exchange import Call, Reply, Request, Signature
from trireme.client.failures import Attempt, translated
from trireme.client.wires import GRPC, HTTP, Wire


class Transport(ABC):
    """A connection to one server, for any number of threads. Raises as `failures.translated` does."""

    wire: ClassVar[Wire]

    def __init__(self, location: str) -> None:
        self._location = location

    @abstractmethod
    def signature(self, call: Call) -> Signature:
        """Ask what the call's pipeline takes and gives."""

    @abstractmethod
    def infer(self, request: Request) -> Reply:
        """Send one request."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""


class HttpTransport(Transport):
    """HTTP with binary tensors. tritonclient's own client is for one thread: each thread gets one."""

    wire = HTTP

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._of_thread = threading.local()

    def signature(self, call: Call) -> Signature:
        """See the base class."""
        with self._client(Attempt(self._location, call)) as client:
            return HTTP.signature(client.get_model_metadata(call.pipeline))

    def infer(self, request: Request) -> Reply:
        """See the base class."""
        query = HTTP.query(request)
        with self._client(Attempt(self._location, request.call, request)) as client:
            return HTTP.reply(client.infer(**query))

    def close(self) -> None:
        """Close this thread's connection; those of other threads close with their threads."""
        if client := self._of_thread.__dict__.pop("client", None):
            client.close()

    @contextmanager
    def _client(self, target: Attempt) -> Iterator[Any]:
        """This thread's client, within the call's time. tritonclient's own time-outs count for each read of a socket
        by itself, and for all calls alike; its sockets are gevent's, so gevent can end the whole exchange."""
        with translated(target, (OSError, HTTPParseError)):
            try:
                with gevent.Timeout(target.call.remaining_s, TimeoutError):
                    yield self._connected()
            except InferenceServerException:
                raise
            except BaseException:  # an answer may still be on its way: never read it as the next one's
                self.close()
                raise

    def _connected(self) -> Any:
        if not hasattr(self._of_thread, "client"):
            self._of_thread.client = triton_http.InferenceServerClient(
                self._location, connection_timeout=None, network_timeout=None
            )
        return self._of_thread.client


class GrpcTransport(Transport):
    """gRPC over a channel of its own."""

    wire = GRPC

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._client = triton_grpc.InferenceServerClient(location, channel_args=CHANNEL)

    def signature(self, call: Call) -> Signature:
        """See the base class."""
        with translated(Attempt(self._location, call), ()):
            return GRPC.signature(self._client.get_model_metadata(call.pipeline, client_timeout=call.remaining_s))

    def infer(self, request: Request) -> Reply:
        """See the base class."""
        query = GRPC.query(request)
        with translated(Attempt(self._location, request.call, request), ()):
            return GRPC.reply(self._client.infer(**query, client_timeout=request.call.remaining_s))

    def close(self) -> None:
        """Close the channel, once.

        tritonclient's destructor closes it again. gRPC counts closes under gevent, and one too many makes it wait for
        ever when the process ends.
        """
        self._client.close()
        self._client.close = lambda: None


def sync_transport(address: Address) -> Transport:
    """The transport that speaks an address's protocol."""
    kind: Callable[[str], Transport] = GrpcTransport if address.is_grpc else HttpTransport
    return kind(address.location)
