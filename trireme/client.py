"""Asks a pipeline over HTTP or gRPC, and reads its answers by the pipeline's own metadata."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import tritonclient.grpc as triton_grpc
import tritonclient.http as triton_http
from tritonclient.utils import InferenceServerException

from trireme.contract import MAX_BATCH_SIZE
from trireme.errors import InferenceError, ServerError

Answer = dict[str, Any]
"""One text's outputs by name: Python values, lists for outputs of more than one element."""


@dataclass(frozen=True)
class Address:
    """Where a Triton answers, and by which protocol."""

    location: str
    is_grpc: bool = False


def infer(address: Address, pipeline: str, texts: Sequence[str], timeout_s: float = 30.0) -> list[Answer]:
    """One answer for each text, in order; long lists travel in requests of the pipeline's batch size.

    Raises:
        ServerError: the server cannot be reached.
        InferenceError: the server refused or failed the request.
    """
    library: Any = triton_grpc if address.is_grpc else triton_http
    options = {} if address.is_grpc else {"connection_timeout": timeout_s, "network_timeout": timeout_s}
    with library.InferenceServerClient(address.location, **options) as client:
        pieces = [texts[start : start + MAX_BATCH_SIZE] for start in range(0, len(texts), MAX_BATCH_SIZE)]
        return [answer for piece in pieces for answer in _ask(library, client, address, pipeline, piece)]


def _ask(library: Any, client: Any, address: Address, pipeline: str, texts: Sequence[str]) -> list[Answer]:
    try:
        result = client.infer(pipeline, [_text_input(library, texts)])
    except InferenceServerException as error:
        if error.status() in ("StatusCode.UNAVAILABLE", None) and "failed to connect" in str(error).lower():
            raise _unreachable(address) from error
        raise InferenceError(pipeline, str(error.message())) from error
    except OSError as error:
        raise _unreachable(address) from error
    columns = {name: result.as_numpy(name) for name in _output_names(client, address, pipeline)}
    return [{name: _plain(column[row]) for name, column in columns.items()} for row in range(len(texts))]


def _output_names(client: Any, address: Address, pipeline: str) -> list[str]:
    """In the contract's order, which a response does not keep."""
    metadata = client.get_model_metadata(pipeline, **({"as_json": True} if address.is_grpc else {}))
    return [output["name"] for output in metadata["outputs"]]


def _text_input(library: Any, texts: Sequence[str]) -> Any:
    values: npt.NDArray[Any] = np.array([[text.encode()] for text in texts], dtype=np.object_)
    tensor = library.InferInput("text", values.shape, "BYTES")
    tensor.set_data_from_numpy(values)
    return tensor


def _plain(row: npt.NDArray[Any]) -> Any:
    values = [value.decode() if isinstance(value, bytes) else value for value in row.tolist()]
    return values[0] if len(values) == 1 else values


def _unreachable(address: Address) -> ServerError:
    return ServerError(
        address.location,
        "cannot be reached",
        "start it with `trireme serve`, or name another with --url or --grpc",
    )
