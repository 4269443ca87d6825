"""What to serve, and where to listen."""

import secrets
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from trireme.contract.integrity import verify_release
from trireme.contract.repository import Repository
from trireme.errors import RepositoryError


@dataclass(frozen=True)
class ServerSpec:
    """One Triton on loopback. A port of 0 takes a free one; no pipelines means all in the repository.

    With `shared_memory` clients may register regions of system shared memory, and send and receive data through them.

    Raises:
        RepositoryError: the repository is missing, holds no pipeline, or a pipeline's pinned release is not on disk.
        IntegrityError: a pinned release was changed since it was published.
    """

    repository: Path
    http_port: int = 8000
    grpc_port: int = 8001
    metrics_port: int = 8002
    pipelines: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    control_token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    log_verbosity: int = 0
    latency_summaries: bool = True
    shared_memory: bool = False

    def __post_init__(self) -> None:
        for port in self.ports:
            if not 0 <= port <= 65535:
                raise ValueError(f"port {port} is not between 0 and 65535")
        if not ip_address(self.host).is_loopback:
            raise ValueError(f"host {self.host} is not loopback: the wheel's Triton lacks security fixes")
        if self.log_verbosity < 0:
            raise ValueError(f"log_verbosity {self.log_verbosity} is negative")
        if not self.control_token:
            raise ValueError("an empty control token would open the control interface to everybody")
        remedy = "export a pipeline first (`trireme export --help`)"
        if not self.repository.is_dir():
            raise RepositoryError(self.repository, "there is no such model repository", remedy)
        if not self.names:
            raise RepositoryError(self.repository, "holds no pipeline", remedy)
        for name in self.names:
            self._require_pinned_release(name, remedy)

    @property
    def ports(self) -> tuple[int, int, int]:
        """The wanted ports for HTTP, gRPC and metrics."""
        return self.http_port, self.grpc_port, self.metrics_port

    @property
    def names(self) -> tuple[str, ...]:
        """The pipelines to serve."""
        return self.pipelines or tuple(Repository(self.repository).pipelines())

    @property
    def models(self) -> tuple[str, ...]:
        """What Triton loads for them."""
        return tuple(model for name in self.names for model in Repository(self.repository).served_models(name))

    @property
    def steps(self) -> tuple[str, ...]:
        """The models that do the pipelines' work."""
        return tuple(model for name in self.names for model in Repository(self.repository).step_models(name))

    def _require_pinned_release(self, name: str, remedy: str) -> None:
        repository = Repository(self.repository)
        pinned = repository.pinned_release(name)
        if pinned not in repository.releases(name):
            folder = repository.pipeline_folder(name)
            raise RepositoryError(folder, f"pins release {pinned}, which is not on disk", remedy)
        verify_release(repository, name, pinned)
