"""One start of Triton: what it is told on its command line and in its environment."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from trireme.admin import Endpoint
from trireme.machine.allocator import with_allocator
from trireme.machine.local_servers import CONTROL_KEY
from trireme.serving.layout import runtime_parent
from trireme.serving.ports import Ports
from trireme.serving.spec import ServerSpec
from trireme.serving.wheel import Wheel

DRAIN_TIMEOUT_S = 10
LATENCY_SUMMARIES = {"summary_latencies": "true", "summary_quantiles": "0.5:0.05,0.95:0.01,0.99:0.005"}
"""p50, p95 and p99 over the last minute, each with the rank's error: p99 lies between p98.5 and p99.5.

Triton inserts every request into fifty sorted lists, the longer the smaller the errors are. Its defaults (0.001, up to
p99.9) cost a small model a quarter of its throughput once the lists are full; these cost a tenth.
"""
_CONTROL_APIS = ("model-repository", "model-config", "trace", "logging")
SHARED_MEMORY_API = "shared-memory"
"""Open to a token only, unless the spec says otherwise: who may register a region by its name may have Triton read and
write any region of its namespace, those of other models' processes included."""


@dataclass(frozen=True)
class Launch:
    """All that one start of Triton needs. `folder` is private to it and goes with it."""

    spec: ServerSpec
    ports: Ports
    wheel: Wheel
    folder: Path

    @property
    def backends(self) -> Path:
        """The backend directory. Triton and all its stubs name it on their command lines, and nobody else does."""
        return self.folder / "backends"

    @property
    def log(self) -> Path:
        """Where Triton's own log goes."""
        return self.folder / "triton.log"

    @property
    def region_prefix(self) -> str:
        """The name that all shared-memory regions of this Triton begin with."""
        return self.folder.name

    @property
    def grpc_url(self) -> str:
        """Host and port for gRPC."""
        return f"{self.spec.host}:{self.ports.grpc}"

    @property
    def endpoint(self) -> Endpoint:
        """Where it is administered."""
        metrics = f"{self.spec.host}:{self.ports.metrics}"
        return Endpoint(self.grpc_url, metrics, self.spec.control_token)

    def arguments(self) -> list[str]:
        """Triton's command line."""
        names = ["python", *(path.name for path in self.backends.iterdir() if path.name != "python")]
        return [
            str(self.wheel.binary),
            f"--model-repository={self.spec.repository.resolve()}",
            f"--backend-directory={self.backends}",
            *self._loading(),
            *self._listening(),
            f"--log-verbose={self.spec.log_verbosity}",
            *(f"--backend-config={name},shm-region-prefix-name={self.region_prefix}" for name in names),
        ]

    def _loading(self) -> list[str]:
        return [
            "--model-control-mode=explicit",
            *(f"--load-model={name}" for name in self.spec.models),
            "--strict-readiness=false",
            # A broken pipeline is named with its reason by the readiness check, while Triton still answers.
            "--exit-on-error=false",
            "--disable-auto-complete-config",
            f"--exit-timeout-secs={DRAIN_TIMEOUT_S}",
        ]

    def _listening(self) -> list[str]:
        shut = (*_CONTROL_APIS, *(() if self.spec.shared_memory else (SHARED_MEMORY_API,)))
        control = f"{','.join(shut)}:{CONTROL_KEY}={self.spec.control_token}"
        return [
            *(f"--{name}-address={self.spec.host}" for name in ("http", "grpc", "metrics")),
            f"--http-port={self.ports.http}",
            f"--grpc-port={self.ports.grpc}",
            f"--metrics-port={self.ports.metrics}",
            *self._summaries(),
            f"--http-restricted-api={control}",
            f"--grpc-restricted-protocol={control}",
        ]

    def _summaries(self) -> list[str]:
        settings = LATENCY_SUMMARIES if self.spec.latency_summaries else {"summary_latencies": "false"}
        return [f"--metrics-config={name}={value}" for name, value in settings.items()]

    def environment(self) -> dict[str, str]:
        """This process's environment, so that Triton finds the wheel's libraries and its stubs find ours."""
        packages = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
        return with_allocator(os.environ) | {
            "LD_LIBRARY_PATH": self.wheel.library_path,
            "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}",
            "PYTHONPATH": ":".join([str(runtime_parent()), *packages]),
            # Each stub leaves a folder there.
            "TMPDIR": str(self.folder),
        }
