"""Triton's control interface, over gRPC only: a load over HTTP would stall the clients on its event loop."""

import json
import time
from typing import Any

import numpy as np
import tritonclient.grpc as triton_grpc
from google.protobuf.json_format import MessageToDict
from tritonclient.grpc.model_config_pb2 import DataType, ModelConfig, ModelInput
from tritonclient.utils import InferenceServerException, triton_to_np_dtype

from text_runtime.probe import TEXTS
from trireme.client.channels import OWN_CHANNEL
from trireme.machine.local_servers import control_headers

_MARK = "reloaded_at_ns"
_ASK_TIMEOUT_S = 5.0
_LOAD_TIMEOUT_S = 300.0
_NO_SIGN_OF_LIFE = "is not healthy"
_LATE = "StatusCode.DEADLINE_EXCEEDED"
_HUNG = {_LATE, "StatusCode.UNAVAILABLE"}


class Control:
    """Looks into one Triton and reloads its models. Close it after use."""

    def __init__(self, grpc_url: str, token: str) -> None:
        self._client = triton_grpc.InferenceServerClient(grpc_url, channel_args=OWN_CHANNEL)
        self._headers = control_headers(token)

    def __enter__(self) -> "Control":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def is_live(self) -> bool:
        """Whether Triton answers at all."""
        return bool(self._client.is_server_live(client_timeout=_ASK_TIMEOUT_S))

    def index(self) -> list[dict[str, Any]]:
        """Every model version that Triton knows: name, version, state, and why it is unavailable."""
        answer = self._client.get_model_repository_index(
            headers=self._headers, as_json=True, client_timeout=_ASK_TIMEOUT_S
        )
        rows: list[dict[str, Any]] = answer.get("models", [])
        return rows

    def ready_versions(self, model: str) -> int:
        """How many versions of a model are loaded."""
        return sum(row["name"] == model and row.get("state") == "READY" for row in self.index())

    def config(self, model: str) -> ModelConfig:
        """The config with which a model is loaded."""
        answer = self._client.get_model_config(model, headers=self._headers, client_timeout=_ASK_TIMEOUT_S)
        config: ModelConfig = answer.config
        return config

    def is_answering(self, model: str, version: str, timeout_s: float) -> bool:
        """Whether a model answers a request of ones within a time.

        An error is an answer too, unless it is Triton's own about a process that gives no sign of life.
        """
        try:
            tensors = [_ones(tensor) for tensor in self.config(model).input if not tensor.optional]
            self._client.infer(model, tensors, model_version=version, client_timeout=timeout_s)
        except InferenceServerException as error:
            return error.status() != _LATE and _NO_SIGN_OF_LIFE not in str(error.message())
        return True

    def reload(self, model: str) -> None:
        """Replace all instances of a loaded model by new ones, while the rest goes on serving.

        Triton does nothing, and says so to nobody, when it finds the config that it has, on disk or brought along. So
        the model's own config is brought along with a mark that is new each time. A load without one is the way back.
        """
        config = self.config(model)
        config.parameters[_MARK].string_value = str(time.time_ns())
        override = json.dumps(MessageToDict(config, preserving_proto_field_name=True))
        self._client.load_model(model, headers=self._headers, config=override, client_timeout=_LOAD_TIMEOUT_S)

    def unload(self, model: str) -> None:
        """Take a model away from new requests; those in flight are still answered, after this returns."""
        self._client.unload_model(model, headers=self._headers, client_timeout=_ASK_TIMEOUT_S)


def is_hung(error: InferenceServerException) -> bool:
    """Whether the control interface did not answer, as against having refused."""
    return error.status() in _HUNG


def _ones(tensor: ModelInput) -> triton_grpc.InferInput:
    """One row for an input, whatever its type; sizes that vary are 1. A pipeline's is its probe: a request that fails
    would be held against whichever release of a canary it meets."""
    kind = DataType.Name(tensor.data_type).removeprefix("TYPE_").replace("STRING", "BYTES")
    shape = [1, *(max(1, size) for size in tensor.dims)]
    values = (
        np.full(shape, TEXTS.get(tensor.name, "1").encode(), object)
        if kind == "BYTES"
        else np.ones(shape, triton_to_np_dtype(kind))
    )
    filled = triton_grpc.InferInput(tensor.name, shape, kind)
    filled.set_data_from_numpy(values)
    return filled
