"""A file that tells the other commands of the same user where a local Triton is controlled, and with which token."""

import json
import os
import stat
from pathlib import Path

from trireme.errors import ServerError
from trireme.machine.local_servers import state_folder
from trireme.serving.launch import Launch


def write_state(launch: Launch, pid: int) -> None:
    """Write the state file, readable by this user alone, in one stroke.

    Raises:
        ServerError: the folder belongs to somebody else, who could read the token.
    """
    path = _path(launch)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_private(path.parent)
    content = {
        "pid": pid,
        "grpc": launch.grpc_url,
        "http": f"{launch.host}:{launch.ports.http}",
        "metrics": launch.endpoint.metrics,
        "repository": str(launch.spec.repository.resolve()),
        "control_token": launch.spec.control_token,
    }
    unseen = path.with_suffix(f".{os.getpid()}.new")
    unseen.unlink(missing_ok=True)
    handle = os.open(unseen, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(content, stream)
    unseen.rename(path)


def remove_state(launch: Launch) -> None:
    """Remove the state file, if it is this server's: another one may have got the port in the meantime."""
    path = _path(launch)
    try:
        is_ours = json.loads(path.read_bytes())["control_token"] == launch.spec.control_token
    except (OSError, ValueError, KeyError):
        return
    if is_ours:
        path.unlink(missing_ok=True)


def _require_private(folder: Path) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise ServerError("here", f"{folder} is not this user's own folder", "remove it, or set XDG_RUNTIME_DIR")
    folder.chmod(0o700)


def _path(launch: Launch) -> Path:
    return state_folder() / f"{launch.grpc_url}.json"
