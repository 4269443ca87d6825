"""One server's control interface, over gRPC only: a load over HTTP would stall the clients on its event loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import tritonclient.grpc as triton_grpc
from tritonclient.grpc.model_config_pb2 import ModelConfig
from tritonclient.utils import InferenceServerException

from promotion.servers import Target
from trireme.errors import InferenceError, LoadError, ServerError
from trireme.state import control_headers

_QUICK_S = 10.0
# A connection of its own: a shared one goes on backing off after a server has come back.
_CHANNEL = [("grpc.use_local_subchannel_pool", 1)]
_LOAD_S = 600.0
_GONE = ("StatusCode.UNAVAILABLE", "StatusCode.DEADLINE_EXCEEDED")


@dataclass(frozen=True)
class Answered:
    """A pipeline's answer to some texts, and the release that gave it: outputs by name, one line a text."""

    release: int
    outputs: dict[str, npt.NDArray[Any]]


class Control:
    """Looks into one Triton, loads and unloads its models, and asks them. Close it after use."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._client = triton_grpc.InferenceServerClient(target.grpc, channel_args=_CHANNEL)
        self._headers = control_headers(target.token)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def ready_versions(self, model: str) -> frozenset[int]:
        """The versions of a model that are loaded.

        Raises:
            ServerError: the server cannot be reached, or its control interface stays shut.
        """
        index = self._call(self._client.get_model_repository_index, headers=self._headers, client_timeout=_QUICK_S)
        rows = [row for row in index.models if row.name == model and row.state == "READY"]
        return frozenset(int(row.version) for row in rows)

    def config(self, model: str) -> ModelConfig:
        """The config that a loaded model runs with."""
        answer = self._call(self._client.get_model_config, model, headers=self._headers, client_timeout=_QUICK_S)
        return answer.config

    def load(self, model: str) -> None:
        """Load a model as its config on disk says, beside what is loaded of it.

        Raises:
            LoadError: a version does not load.
        """
        try:
            self._client.load_model(model, headers=self._headers, client_timeout=_LOAD_S)
        except InferenceServerException as error:
            self._raise_if_gone(error)
            raise LoadError(self.target.grpc, model, _reason(error)) from error

    def unload(self, model: str) -> None:
        """Unload a model that nothing uses; its steps stay."""
        self._call(self._client.unload_model, model, headers=self._headers, client_timeout=_LOAD_S)

    def infer(self, model: str, columns: Mapping[str, Sequence[str]], key: str | None = None) -> Answered:
        """Ask a pipeline: one text a row in every input.

        Raises:
            InferenceError: it fails the request.
        """
        inputs = [_string_input(name, texts) for name, texts in columns.items()]
        parameters = {"key": key} if key is not None else None
        try:
            result = self._client.infer(model, inputs, client_timeout=_QUICK_S, parameters=parameters)
        except InferenceServerException as error:
            self._raise_if_gone(error)
            raise InferenceError(f"{model} on {self.target.grpc}", str(error.message())) from error
        response = result.get_response()
        return Answered(answering_release(response), {out.name: result.as_numpy(out.name) for out in response.outputs})

    def _call(self, function: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except InferenceServerException as error:
            self._raise_if_gone(error)
            raise ServerError(self.target.grpc, str(error.message()), "see the server's log") from error

    def _raise_if_gone(self, error: InferenceServerException) -> None:
        if "restricted" in str(error).lower():
            remedy = "give its token in TRIREME_CONTROL_TOKEN"
            raise ServerError(self.target.grpc, "its control interface is closed to you", remedy) from error
        if error.status() in _GONE:
            raise ServerError(self.target.grpc, "does not answer", "start it again, then repeat the command") from error


def answering_release(response: Any) -> int:
    """The release that an answer comes from: the ensemble's version, or what a canary's router says.

    A router on a Triton without response parameters leaves its own version.
    """
    if "release" in response.parameters:
        return int(response.parameters["release"].int64_param)
    return int(response.model_version)


def _string_input(name: str, texts: Sequence[str]) -> Any:
    values: npt.NDArray[Any] = np.array([[text.encode()] for text in texts], dtype=np.object_)
    tensor = triton_grpc.InferInput(name, values.shape, "BYTES")
    tensor.set_data_from_numpy(values)
    return tensor


def _reason(error: InferenceServerException) -> str:
    """The one line of a Python traceback that says what is wrong."""
    lines = [line.strip() for line in str(error.message()).replace("\\n", "\n").splitlines() if line.strip()]
    return next((line for line in lines if "Error" in line), lines[0] if lines else "no reason given")
