"""The client of one Triton's administration."""

import json
import time
from collections.abc import Callable
from typing import Any

import grpc
import tritonclient.grpc as triton_grpc
from google.protobuf.json_format import MessageToDict
from tritonclient.grpc.model_config_pb2 import ModelConfig
from tritonclient.utils import InferenceServerException

from text_runtime.generation.tensors import FINISH_REASON, TICKET
from text_runtime.probe import GENERATION_PROBE
from trireme.admin.deadlines import Deadlines
from trireme.admin.endpoint import Endpoint
from trireme.admin.index import ModelVersion, exception_of
from trireme.admin.metrics import Sample, scrape
from trireme.admin.probe import flaw, ones, probe_columns, strings
from trireme.admin.statistics import ModelCounts, counts_by_model
from trireme.contract.configs import identity_of
from trireme.contract.families import GENERATION
from trireme.errors import ClosedControlError, InferenceError, LoadError, ServerError, SilentServerError
from trireme.machine.channels import OWN_CHANNEL
from trireme.machine.grpc_streams import StreamError, reason_of, stream_request, stream_results

_RELOADED_AT = "reloaded_at_ns"
_LATE = "StatusCode.DEADLINE_EXCEEDED"
_SILENT = (_LATE, "StatusCode.UNAVAILABLE")
_CLOSED = "restricted"
_NO_SIGN_OF_LIFE = "is not healthy"


class Administrator:
    """Looks into one Triton, loads and unloads its models, and probes them. Use it as a context manager, or close it.

    Every method that asks the control interface raises:
        SilentServerError: the server cannot be reached, or does not answer in time.
        ClosedControlError: the token does not open the control interface.
        ServerError: the server refuses.
    """

    def __init__(self, endpoint: Endpoint, deadlines: Deadlines | None = None) -> None:
        self.endpoint = endpoint
        self._deadlines = deadlines or Deadlines()
        self._client = triton_grpc.InferenceServerClient(endpoint.grpc, channel_args=OWN_CHANNEL)

    def __enter__(self) -> "Administrator":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def is_live(self) -> bool:
        """Whether Triton answers at all."""
        return bool(self._call(self._client.is_server_live, client_timeout=self._deadlines.ask_s))

    def index(self) -> list[ModelVersion]:
        """Every model version that Triton knows."""
        answer = self._ask(self._client.get_model_repository_index)
        return [ModelVersion(row.name, row.version, row.state, row.reason) for row in answer.models]

    def ready_versions(self, model: str) -> frozenset[int]:
        """The versions of a model that are loaded."""
        return frozenset(int(row.version) for row in self.index() if row.name == model and row.is_ready)

    def config(self, model: str) -> ModelConfig:
        """The config that a loaded model runs with."""
        config: ModelConfig = self._ask(self._client.get_model_config, model).config
        return config

    def load(self, model: str) -> None:
        """Load a model as its config on disk says, beside what is loaded of it.

        Raises:
            LoadError: a version does not load; says the exception of its traceback.
        """
        self._load(model)

    def reload(self, model: str) -> None:
        """Replace all instances of a loaded model by new ones, while the rest goes on serving.

        Triton does nothing, and says so to nobody, when it finds the config that it has, on disk or brought along. So
        the model's own config is brought along with a mark that is new each time. A load without one is the way back.

        Raises:
            LoadError: the new instances do not load.
        """
        config = self.config(model)
        config.parameters[_RELOADED_AT].string_value = str(time.time_ns())
        self._load(model, config=json.dumps(MessageToDict(config, preserving_proto_field_name=True)))

    def unload(self, model: str) -> None:
        """Take a model away from new requests, but not its steps; those in flight are still answered."""
        self._call(
            self._client.unload_model, model, headers=self.endpoint.headers, client_timeout=self._deadlines.unload_s
        )

    def shared_memory_regions(self) -> list[str]:
        """The regions of system shared memory that clients have registered; open to a token only, or to everybody."""
        return sorted(self._ask(self._client.get_system_shared_memory_status).regions)

    def statistics(self) -> dict[str, ModelCounts]:
        """What Triton counted of every model."""
        answer = self._call(self._client.get_inference_statistics, client_timeout=self._deadlines.ask_s)
        return counts_by_model(answer.model_stats)

    def metrics(self) -> list[Sample]:
        """What the server publishes for Prometheus."""
        return scrape(self.endpoint.metrics_url)

    def probe(self, pipeline: str, config: ModelConfig, timeout_s: float) -> None:
        """Send one small text through a pipeline, whose `config` says what it takes and gives.

        Raises:
            InferenceError: it fails the request, does not answer in time, or the answer is not whole.
        """
        if identity_of(config).family == GENERATION.name:
            return self._probe_stream(pipeline, timeout_s)
        tensors = [strings(name, texts) for name, texts in probe_columns(config).items()]
        try:
            result = self._client.infer(pipeline, tensors, client_timeout=timeout_s)
        except InferenceServerException as error:
            raise InferenceError(pipeline, self.endpoint.grpc, str(error.message())) from error
        if problem := flaw(config, result):
            raise InferenceError(pipeline, self.endpoint.grpc, problem)
        return None

    def _probe_stream(self, pipeline: str, timeout_s: float) -> None:
        try:
            found = stream_results(self.endpoint.grpc, stream_request(pipeline, GENERATION_PROBE), timeout_s)
        except (StreamError, grpc.RpcError) as error:
            raise InferenceError(pipeline, self.endpoint.grpc, reason_of(error)) from error
        if not any(result.as_numpy(FINISH_REASON.name) is not None for result in found):
            raise InferenceError(pipeline, self.endpoint.grpc, "its stream ends without an answer")

    def is_answering(self, model: str, version: str, timeout_s: float) -> bool:
        """Whether any model answers a request of ones within a time.

        An error is an answer too, unless it is Triton's own about a process that gives no sign of life.
        """
        try:
            answer = self._client.get_model_config(
                model, headers=self.endpoint.headers, client_timeout=self._deadlines.ask_s
            )
            if answer.config.model_transaction_policy.decoupled:
                names = {tensor.name for tensor in answer.config.input}
                inputs = {} if TICKET.name in names else GENERATION_PROBE
                return self._is_streaming(stream_request(model, inputs, version), timeout_s)
            tensors = [ones(tensor) for tensor in answer.config.input if not tensor.optional]
            self._client.infer(model, tensors, model_version=version, client_timeout=timeout_s)
        except InferenceServerException as error:
            return error.status() != _LATE and _NO_SIGN_OF_LIFE not in str(error.message())
        return True

    def _is_streaming(self, request: Any, timeout_s: float) -> bool:
        """The same of a model that answers in streams. A pipeline gets its probe, since a canary counts what fails; a
        step gets a request of nothing, which a process that lives refuses."""
        try:
            stream_results(self.endpoint.grpc, request, timeout_s)
        except StreamError as error:
            return _NO_SIGN_OF_LIFE not in str(error)
        except grpc.RpcError as error:
            return error.code() != grpc.StatusCode.DEADLINE_EXCEEDED
        return True

    def _load(self, model: str, **options: str) -> None:
        try:
            self._client.load_model(
                model, headers=self.endpoint.headers, client_timeout=self._deadlines.load_s, **options
            )
        except InferenceServerException as error:
            self._raise_if_unreachable(error)
            raise LoadError(self.endpoint.grpc, model, exception_of(str(error.message()))) from error

    def _ask(self, function: Callable[..., Any], *arguments: str) -> Any:
        """Ask something that the token guards."""
        return self._call(function, *arguments, headers=self.endpoint.headers, client_timeout=self._deadlines.ask_s)

    def _call(self, function: Callable[..., Any], *arguments: str, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except InferenceServerException as error:
            self._raise_if_unreachable(error)
            raise ServerError(self.endpoint.grpc, str(error.message()), "see the server's log") from error

    def _raise_if_unreachable(self, error: InferenceServerException) -> None:
        if _CLOSED in str(error).lower():
            raise ClosedControlError(self.endpoint.grpc) from error
        if error.status() in _SILENT:
            raise SilentServerError(self.endpoint.grpc) from error
