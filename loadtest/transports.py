"""Triton's two protocols behind one narrow door, both cooperative under gevent."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from functools import cache
from typing import Any, ClassVar

import grpc.experimental.gevent as grpc_gevent
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton_http
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

from loadtest.scenarios import Tensors
from trireme.errors import ServerError


class Transport(ABC):
    """One user's connection to one server. `protocol` is the word that reports use."""

    protocol: ClassVar[str]
    _library: ClassVar[Any]

    def __init__(self, address: str, timeout_s: float) -> None:
        self._address = address
        self._timeout_s = timeout_s
        self._client = self._connect()

    @abstractmethod
    def _connect(self) -> Any:
        """Build the client."""

    @abstractmethod
    def _metadata(self, pipeline: str) -> dict[str, Any]:
        """The pipeline's metadata as a dict."""

    @abstractmethod
    def _infer(self, pipeline: str, inputs: list[Any]) -> Any:
        """Send one request."""

    def prepare(self, inputs: Tensors) -> list[Any]:
        """Serialize a request's inputs: done before the clock starts."""
        prepared = []
        for name, values in inputs.items():
            tensor = self._library.InferInput(name, list(values.shape), np_to_triton_dtype(values.dtype))
            tensor.set_data_from_numpy(values)
            prepared.append(tensor)
        return prepared

    def infer(self, pipeline: str, inputs: list[Any], outputs: Collection[str]) -> Tensors:
        """Send prepared inputs and give the outputs.

        Raises:
            tritonclient.utils.InferenceServerException: the server failed the request.
            OSError: the connection failed.
        """
        result = self._infer(pipeline, inputs)
        return {name: result.as_numpy(name) for name in outputs}

    def tensors(self, pipeline: str) -> tuple[list[str], list[str]]:
        """Names of a pipeline's inputs and outputs. Also opens the connection.

        Raises:
            ServerError: the server cannot be reached or does not serve the pipeline.
        """
        try:
            metadata = self._metadata(pipeline)
        except (InferenceServerException, OSError) as error:
            remedy = f"start it with `trireme serve`, or give another {self.protocol} address"
            raise ServerError(self._address, f"pipeline '{pipeline}' does not answer ({error})", remedy) from error
        return [each["name"] for each in metadata["inputs"]], [each["name"] for each in metadata["outputs"]]

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


class HttpTransport(Transport):
    """HTTP with tensors in binary, one connection a user."""

    protocol = "http"
    _library = triton_http

    def _connect(self) -> Any:
        return triton_http.InferenceServerClient(
            self._address, connection_timeout=self._timeout_s, network_timeout=self._timeout_s
        )

    def _metadata(self, pipeline: str) -> dict[str, Any]:
        metadata: dict[str, Any] = self._client.get_model_metadata(pipeline)
        return metadata

    def _infer(self, pipeline: str, inputs: list[Any]) -> Any:
        return self._client.infer(pipeline, inputs)


class GrpcTransport(Transport):
    """gRPC; tritonclient lets six users share a channel."""

    protocol = "grpc"
    _library = triton_grpc

    def _connect(self) -> Any:
        make_grpc_cooperative()
        return triton_grpc.InferenceServerClient(self._address)

    def _metadata(self, pipeline: str) -> dict[str, Any]:
        metadata: dict[str, Any] = self._client.get_model_metadata(
            pipeline, as_json=True, client_timeout=self._timeout_s
        )
        return metadata

    def _infer(self, pipeline: str, inputs: list[Any]) -> Any:
        return self._client.infer(pipeline, inputs, client_timeout=self._timeout_s)

    def close(self) -> None:
        """Close the channel, once.

        tritonclient's destructor closes it again. gRPC counts closes under gevent, and one too many makes it wait for
        ever when the process ends.
        """
        super().close()
        self._client.close = lambda: None


@cache
def make_grpc_cooperative() -> None:
    """Let gRPC's C core wait through gevent; without it the first call blocks every user. Once a process."""
    grpc_gevent.init_gevent()
