"""One server's control interface, over gRPC only: a load over HTTP would stall the clients on its event loop."""

from typing import Any

import tritonclient.grpc as triton_grpc
from tritonclient.grpc.model_config_pb2 import ModelConfig
from tritonclient.utils import InferenceServerException

from trireme.client.channels import OWN_CHANNEL
from trireme.client.exchange import Call, Columns, Reply, Request
from trireme.client.sync_transports import GrpcTransport
from trireme.errors import LoadError, ServerError
from trireme.machine.local_servers import control_headers
from trireme.promotion.servers import Target

_QUICK_S = 10.0
_LOAD_S = 600.0
_GONE = ("StatusCode.UNAVAILABLE", "StatusCode.DEADLINE_EXCEEDED")


class Control:
    """Looks into one Triton, loads and unloads its models, and asks them. Close it after use."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._client = triton_grpc.InferenceServerClient(target.grpc, channel_args=OWN_CHANNEL)
        self._data = GrpcTransport(target.grpc)
        self._headers = control_headers(target.token)

    def close(self) -> None:
        """Close the connections."""
        self._data.close()
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

    def infer(self, model: str, columns: Columns, key: str | None = None) -> Reply:
        """Ask a pipeline, as its clients do and without trying again: one text a row in every input.

        Raises:
            TriremeError: the server does not answer, or the pipeline fails the request.
        """
        return self._data.infer(Request(Call(model, _QUICK_S, key), columns))

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


def _reason(error: InferenceServerException) -> str:
    """The one line of a Python traceback that says what is wrong."""
    lines = [line.strip() for line in str(error.message()).replace("\\n", "\n").splitlines() if line.strip()]
    return next((line for line in lines if "Error" in line), lines[0] if lines else "no reason given")
