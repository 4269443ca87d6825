"""Which servers a command moves: named ones, all addresses of a DNS name, or the local ones of the repository."""

import os
import socket
from collections.abc import Sequence
from pathlib import Path

from trireme.admin import Endpoint
from trireme.errors import ServerError
from trireme.machine.local_servers import ServerState, local_servers

DEFAULT_PORT = 8001
TOKEN_VARIABLE = "TRIREME_CONTROL_TOKEN"


def find_targets(servers: Sequence[str], repository: Path, token: str | None = None) -> list[Endpoint]:
    """The servers to move, each once. A DNS name stands for all its addresses.

    Raises:
        ServerError: a name cannot be resolved, or no server was named and none runs here on this repository.
    """
    token = token or os.environ.get(TOKEN_VARIABLE)
    states = {state.grpc: state for state in local_servers()}
    if not servers:
        return _local(states, repository, token)
    addresses = dict.fromkeys(address for server in servers for address in _resolve(server))
    return [_endpoint(address, states.get(address), token) for address in addresses]


def _local(states: dict[str, ServerState], repository: Path, token: str | None) -> list[Endpoint]:
    ours = [state for state in states.values() if state.repository == str(repository.resolve())]
    if not ours:
        remedy = "start one with `trireme serve`, or name it with --server"
        raise ServerError("here", f"no Triton of this user serves {repository}", remedy)
    return [_endpoint(state.grpc, state, token) for state in ours]


def _resolve(server: str) -> list[str]:
    """Every address behind `host`, `host:port` or `[address]:port`: the IPv4 ones, or where there are none, the IPv6
    ones, since a replica with both would be moved twice."""
    host, _, port = server.rpartition(":") if ":" in server else (server, "", str(DEFAULT_PORT))
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise ServerError(server, f"cannot be resolved ({error})", "give host:port or a DNS name") from error
    old = {f"{where[0]}:{port}" for family, *_, where in found if family == socket.AF_INET}
    return sorted(old or {f"[{where[0]}]:{port}" for _, *_, where in found})


def _endpoint(grpc: str, state: ServerState | None, token: str | None) -> Endpoint:
    host, _, port = grpc.rpartition(":")
    metrics = state.metrics if state and state.metrics else f"{host}:{int(port) + 1}"
    return Endpoint(grpc, metrics, token or (state.control_token if state else ""))
