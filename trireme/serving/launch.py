"""One start of Triton: what it is told on its command line and in its environment, wherever it comes from."""

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from trireme.admin import Administrator, Endpoint
from trireme.machine.local_servers import CONTROL_KEY
from trireme.serving.ports import Ports

LATENCY_SUMMARIES = {"summary_latencies": "true", "summary_quantiles": "0.5:0.05,0.95:0.01,0.99:0.005"}
"""p50, p95 and p99 over the last minute, each with the rank's error: p99 lies between p98.5 and p99.5.

Triton inserts every request into fifty sorted lists, the longer the smaller the errors are. Its defaults (0.001, up to
p99.9) cost a small model a quarter of its throughput once the lists are full; these cost a tenth.
"""
SHARED_MEMORY_API = "shared-memory"
"""Open to a token only, unless the spec says otherwise: who may register a region by its name may have Triton read and
write any region of its namespace, those of other models' processes included."""
_CONTROL_APIS = ("model-repository", "model-config", SHARED_MEMORY_API, "trace", "logging")
_PYTHON = "python"
_REGION_PREFIX = "shm-region-prefix-name"


class Served(Protocol):
    """What is served, however it was asked for."""

    @property
    def repository(self) -> Path:
        """The model repository."""

    @property
    def names(self) -> tuple[str, ...]:
        """The pipelines."""

    @property
    def models(self) -> tuple[str, ...]:
        """What Triton loads for them: the pipelines, and the ensembles of staged releases."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The models that do the pipelines' work."""

    @property
    def control_token(self) -> str:
        """What opens the control interface."""

    @property
    def latency_summaries(self) -> bool:
        """Whether p50, p95 and p99 of every model are among the metrics."""

    @property
    def shared_memory(self) -> bool:
        """Whether clients may send data through system shared memory."""


@dataclass(frozen=True)
class Launch(ABC):
    """All that one start of Triton needs. `folder` is private to it and goes with it."""

    spec: Served
    ports: Ports
    folder: Path

    idle_s: ClassVar[float]
    """How long an ending Triton may live on without a Python process before it is killed."""

    @property
    @abstractmethod
    def host(self) -> str:
        """Where it is administered."""

    @property
    @abstractmethod
    def backends(self) -> Path:
        """The backend directory."""

    @property
    @abstractmethod
    def log(self) -> Path | None:
        """Where Triton's own log goes; None for where this process's goes."""

    @property
    @abstractmethod
    def drain_timeout_s(self) -> int:
        """How long requests in flight may take to finish."""

    @abstractmethod
    def program(self) -> list[str]:
        """The binary, and the flags of this kind of start."""

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """The environment of Triton and its models' processes."""

    @abstractmethod
    def prepare(self) -> None:
        """Lay out what has to be there before the start."""

    @abstractmethod
    def wait(self, process: subprocess.Popen[bytes], admin: Administrator, is_cancelled: Callable[[], bool]) -> None:
        """Wait until a started Triton serves.

        Raises:
            ServerError: it ended or does not get there, or was cancelled.
        """

    @abstractmethod
    def withdraw(self) -> None:
        """Take back what told others of this server. Safe to call twice."""

    @property
    def region_prefix(self) -> str:
        """The name that all shared-memory regions of this Triton begin with."""
        return self.folder.name

    @property
    def grpc_url(self) -> str:
        """Host and port for gRPC."""
        return f"{self.host}:{self.ports.grpc}"

    @property
    def endpoint(self) -> Endpoint:
        """Where it is administered."""
        return Endpoint(self.grpc_url, f"{self.host}:{self.ports.metrics}", self.spec.control_token)

    @property
    def python_backends(self) -> list[str]:
        """The backends whose models run in Python processes: Triton's own, and those that are made of a `model.py`."""
        return [_PYTHON, *sorted(path.parent.name for path in self.backends.glob("*/model.py"))]

    def arguments(self) -> list[str]:
        """Triton's command line."""
        binary, *own = self.program()
        regions = (f"--backend-config={name},{_REGION_PREFIX}={self.region_prefix}" for name in self.python_backends)
        return [
            binary,
            f"--model-repository={self.spec.repository.resolve()}",
            *self._loading(),
            *self._control(),
            *self._summaries(),
            *regions,
            *own,
        ]

    def _loading(self) -> list[str]:
        return [
            "--model-control-mode=explicit",
            *(f"--load-model={name}" for name in self.spec.models),
            "--strict-readiness=false",
            # A broken pipeline is named with its reason by the readiness check, while Triton still answers.
            "--exit-on-error=false",
            "--disable-auto-complete-config",
            f"--exit-timeout-secs={self.drain_timeout_s}",
        ]

    def _control(self) -> list[str]:
        shut = [api for api in _CONTROL_APIS if not (self.spec.shared_memory and api == SHARED_MEMORY_API)]
        control = f"{','.join(shut)}:{CONTROL_KEY}={self.spec.control_token}"
        return [f"--http-restricted-api={control}", f"--grpc-restricted-protocol={control}"]

    def _summaries(self) -> list[str]:
        settings = LATENCY_SUMMARIES if self.spec.latency_summaries else {"summary_latencies": "false"}
        return [f"--metrics-config={name}={value}" for name, value in settings.items()]


def names_region(argument: str, region_prefix: str) -> bool:
    """Whether a word of a command line is of the Triton with this prefix, or of one of its Python processes."""
    return argument.startswith(region_prefix) or argument.endswith(f"{_REGION_PREFIX}={region_prefix}")
