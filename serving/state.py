"""A file that tells the other commands of the same user where a local Triton is controlled, and with which token."""

import json
import os
from pathlib import Path

from serving.process import Launch
from trireme.state import state_folder


def write_state(launch: Launch, pid: int) -> None:
    """Write the state file, readable by this user alone."""
    path = _path(launch)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = {
        "pid": pid,
        "grpc": f"{launch.spec.host}:{launch.ports.grpc}",
        "metrics": f"{launch.spec.host}:{launch.ports.metrics}",
        "repository": str(launch.spec.repository.resolve()),
        "control_token": launch.spec.control_token,
    }
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(content, stream)


def remove_state(launch: Launch) -> None:
    """Remove the state file, if it was written."""
    _path(launch).unlink(missing_ok=True)


def _path(launch: Launch) -> Path:
    return state_folder() / f"{launch.ports.grpc}.json"
