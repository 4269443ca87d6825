"""Where one Triton is administered."""

from dataclasses import dataclass

from trireme.machine.local_servers import control_headers


@dataclass(frozen=True)
class Endpoint:
    """One server: host and port of its gRPC and its metrics, and the token that opens its control interface."""

    grpc: str
    metrics: str = ""
    token: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it shares this machine's memory."""
        return self.grpc.startswith(("127.", "localhost", "[::1]"))

    @property
    def headers(self) -> dict[str, str]:
        """The gRPC header that opens the control interface."""
        return control_headers(self.token)

    @property
    def metrics_url(self) -> str:
        """Where Prometheus reads the metrics."""
        return f"http://{self.metrics}/metrics"
