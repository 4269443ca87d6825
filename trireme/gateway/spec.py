"""What a gateway is told when it starts."""

import ipaddress
from dataclasses import dataclass

from trireme.client.address import Address
from trireme.errors import GatewayError


@dataclass(frozen=True)
class GatewaySpec:
    """Which Tritons stand behind it, by their gRPC addresses, and what it offers of them.

    A DNS name stands for all the addresses that it has when the gateway starts. Without `pipelines` it offers all that
    the first server lists. `timeout_s` is the longest that a request may take, `most_body_bytes` the longest body, and
    `most_texts` the most texts of one request.
    """

    servers: tuple[str, ...]
    pipelines: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 9000
    timeout_s: float = 60.0
    most_body_bytes: int = 4 << 20
    most_texts: int = 1024

    def __post_init__(self) -> None:
        if not self.servers:
            raise GatewayError("there is no server behind it", "name one with --server grpc://HOST:PORT")
        for server in self.servers:
            if not Address.parse(server).is_grpc:
                raise GatewayError(f"{server} is no gRPC address", "write grpc://HOST:PORT")
        if not _is_loopback(self.host):
            problem = f"{self.host} can be reached from elsewhere, and there are no keys yet"
            raise GatewayError(problem, "listen on 127.0.0.1, and put a proxy that asks for keys in front")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
