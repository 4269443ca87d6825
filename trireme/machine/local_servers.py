"""The file by which a Triton that `trireme serve` started is found and controlled by the same user's commands."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import orjson

CONTROL_KEY = "trireme-control-token"


@dataclass(frozen=True)
class ServerState:
    """Where a local Triton is controlled, what it serves, and the token that opens its control interface."""

    pid: int
    grpc: str
    metrics: str
    repository: str
    control_token: str


def control_headers(token: str) -> dict[str, str]:
    """The gRPC header that opens a restricted control interface."""
    return {f"triton-grpc-protocol-{CONTROL_KEY}": token} if token else {}


def state_folder() -> Path:
    """`$XDG_RUNTIME_DIR/trireme`, or a folder of this user in the temporary directory."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime) / "trireme" if runtime else Path(tempfile.gettempdir()) / f"trireme-{os.getuid()}"


def local_servers() -> list[ServerState]:
    """Every Triton of this user that runs on this machine. A file that a killed server left is passed over."""
    states = [state for path in sorted(state_folder().glob("*.json")) if (state := _read(path))]
    return [state for state in states if Path(f"/proc/{state.pid}").exists()]


def _read(path: Path) -> ServerState | None:
    try:
        fields = orjson.loads(path.read_bytes())
        return ServerState(**{name: fields.get(name, "") for name in ServerState.__dataclass_fields__})
    except (OSError, ValueError):
        return None
