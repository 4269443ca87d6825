"""How a request and its reply look in each of Triton's two protocols, whether sent sync or async."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton_http
from tritonclient.utils import triton_to_np_dtype

from trireme.client.exchange import Columns, Reply, Request, Signature
from trireme.contract.repository import ROUTER_VERSION

_RELEASE = "release"


class Wire(ABC):
    """One protocol. `name` is the word that reports use."""

    name: str
    _library: Any

    def query(self, request: Request) -> dict[str, Any]:
        """The arguments of tritonclient's `infer`, whichever of its clients sends them.

        The time left goes along: no step works for somebody who has stopped waiting.
        """
        call = request.call
        return {
            "model_name": call.pipeline,
            "inputs": self._inputs(request.columns),
            "timeout": int(call.remaining_s * 1e6),
            "parameters": call.parameters,
        }

    @abstractmethod
    def reply(self, result: Any) -> Reply:
        """Read what `infer` gave."""

    @abstractmethod
    def signature(self, metadata: Any) -> Signature:
        """Read what `get_model_metadata` gave."""

    def _inputs(self, columns: Columns) -> list[Any]:
        inputs = []
        for name, texts in columns.items():
            tensor = self._library.InferInput(name, [len(texts), 1], "BYTES")
            tensor.set_data_from_numpy(_strings(texts))
            inputs.append(tensor)
        return inputs


class HttpWire(Wire):
    """JSON around binary tensors."""

    name = "http"
    _library = triton_http

    def reply(self, result: Any) -> Reply:
        """See the base class."""
        response: Mapping[str, Any] = result.get_response()
        named = response.get("parameters", {}).get(_RELEASE)
        names = (output["name"] for output in response["outputs"])
        return _reply(result, names, named or response["model_version"])

    def signature(self, metadata: Any) -> Signature:
        """See the base class."""
        outputs = ((each["name"], each["datatype"], each["shape"]) for each in metadata["outputs"])
        return _signature((each["name"] for each in metadata["inputs"]), outputs)


class GrpcWire(Wire):
    """Protobuf messages."""

    name = "grpc"
    _library = triton_grpc

    def reply(self, result: Any) -> Reply:
        """See the base class."""
        response = result.get_response()
        named = response.parameters[_RELEASE].int64_param if _RELEASE in response.parameters else None
        return _reply(result, (output.name for output in response.outputs), named or response.model_version)

    def signature(self, metadata: Any) -> Signature:
        """See the base class."""
        outputs = ((each.name, each.datatype, each.shape) for each in metadata.outputs)
        return _signature((each.name for each in metadata.inputs), outputs)


HTTP = HttpWire()
GRPC = GrpcWire()


def _strings(texts: Sequence[str]) -> npt.NDArray[Any]:
    column = np.empty((len(texts), 1), dtype=np.object_)
    column[:, 0] = [text.encode() for text in texts]
    return column


def _reply(result: Any, names: Iterable[str], version: Any) -> Reply:
    return Reply({name: result.as_numpy(name) for name in names}, release_of(version))


def release_of(version: Any) -> int | None:
    """The release that a version stands for; None for a canary's router, which does not say whom it asked."""
    release = int(version)
    return None if release == ROUTER_VERSION else release


def _signature(inputs: Iterable[str], outputs: Iterable[tuple[str, str, Sequence[int]]]) -> Signature:
    rows = {name: (triton_to_np_dtype(kind), tuple(int(size) for size in shape[1:])) for name, kind, shape in outputs}
    return Signature(tuple(inputs), rows)
