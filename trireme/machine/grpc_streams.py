"""Requests whose answers are streams, over gRPC: one call each, so that each can be cancelled by itself."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import grpc
import numpy as np
from tritonclient.grpc import InferResult, service_pb2, service_pb2_grpc
from tritonclient.utils import serialize_byte_tensor

from trireme.machine.channels import OWN_CHANNEL

Inputs = Mapping[str, str | bool]
"""A text or a truth by input name, each of shape [1]."""


def stream_request(
    model: str, inputs: Inputs, version: str = "", parameters: Mapping[str, str | int | bool] | None = None
) -> Any:
    """A request as ModelStreamInfer takes it."""
    request = service_pb2.ModelInferRequest(model_name=model, model_version=version)
    for name, value in inputs.items():
        is_flag = isinstance(value, bool)
        request.inputs.add(name=name, datatype="BOOL" if is_flag else "BYTES", shape=[1])
        request.raw_input_contents.append(_content(value))
    for name, parameter in {"triton_enable_empty_final_response": True, **(parameters or {})}.items():
        kind = "bool_param" if isinstance(parameter, bool) else "int64_param" if isinstance(parameter, int) else None
        setattr(request.parameters[name], kind or "string_param", parameter)
    return request


def results(responses: Iterator[Any]) -> Iterator[InferResult]:
    """The responses of a call, until the server ends it. The last may be empty.

    The end of the call is waited for, and not only the final response or a failure: Triton 2.51 loses count of a
    request whose call is given up between the two, and then never unloads its model.

    Raises:
        StreamError: the server says that the request failed.
        grpc.RpcError: the call broke.
    """
    for response in responses:
        if response.error_message:
            with suppress(grpc.RpcError):  # the failure is known already
                for _ in responses:
                    pass
        yield checked_result(response)


def checked_result(response: Any) -> InferResult:
    """A response of ModelStreamInfer.

    Raises:
        StreamError: it says that the request failed.
    """
    if response.error_message:
        raise StreamError(response.error_message)
    return InferResult(response.infer_response)


def fields_of(result: InferResult) -> dict[str, Any]:
    """The outputs of a response, each of one element, with the version that gave them; nothing where it has none."""
    response = result.get_response()
    values = {output.name: result.as_numpy(output.name).item() for output in response.outputs}
    texts = {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}
    return {**texts, "model_version": response.model_version} if texts else {}


def stream_results(address: str, request: Any, timeout_s: float) -> list[InferResult]:
    """All responses to one request, over a connection of its own.

    Raises:
        StreamError: the server says that the request failed.
        grpc.RpcError: the server cannot be reached, or does not end its answer in time.
    """
    with grpc.insecure_channel(address, options=OWN_CHANNEL) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        return list(results(stub.ModelStreamInfer(iter([request]), timeout=timeout_s)))


def reason_of(error: Exception) -> str:
    """What a failed stream says of itself."""
    return str(error.details() if isinstance(error, grpc.RpcError) else error)


class StreamError(Exception):
    """The server's words for a request that failed."""


def _content(value: str | bool) -> bytes:
    if isinstance(value, bool):
        return bytes([value])
    raw: bytes = serialize_byte_tensor(np.array([value.encode()], dtype=np.object_)).item()
    return raw
