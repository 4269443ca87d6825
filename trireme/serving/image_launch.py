"""A start of the Triton that a container's image brings."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trireme.admin import Administrator
from trireme.errors import ServerError
from trireme.machine.allocator import with_allocator
from trireme.serving.container_spec import TOKEN, ContainerSpec
from trireme.serving.launch import Launch
from trireme.serving.ports import Ports
from trireme.serving.readiness import ending, require_wanted

_HOME = Path("/opt/tritonserver")
_COMMAND = "tritonserver"
_LOOPBACK = "127.0.0.1"
_EVERYWHERE = ("", "0.0.0.0")
_POLL_S = 0.1
_CONNECT_S = 1.0


@dataclass(frozen=True)
class ImageLaunch(Launch):
    """All that one start of the image's Triton needs."""

    spec: ContainerSpec

    # Its other backends have no Python process by which to tell that nothing is left to answer.
    idle_s = 5.0

    @property
    def host(self) -> str:
        """See the base class: loopback, unless tritonserver is told to listen on one address only."""
        named = flag(self.spec.arguments, "--grpc-address", "")
        return _LOOPBACK if named in _EVERYWHERE else named

    @property
    def backends(self) -> Path:
        """See the base class."""
        return Path(flag(self.spec.arguments, "--backend-directory", str(_HOME / "backends")))

    @property
    def log(self) -> None:
        """See the base class: the container's log."""
        return

    @property
    def drain_timeout_s(self) -> int:
        """See the base class."""
        return self.spec.exit_timeout_s

    def program(self) -> list[str]:
        """See the base class. What the container is started with goes last, and so overrides all else."""
        binary = shutil.which(_COMMAND) or str(_HOME / "bin" / _COMMAND)
        return [binary, "--log-format=ISO8601", *self.spec.arguments]

    def environment(self) -> dict[str, str]:
        """This process's environment, less the token: Triton takes it as a flag only, and no model needs it."""
        inherited = {name: value for name, value in os.environ.items() if name != TOKEN}
        # Each stub leaves a folder there.
        return with_allocator(inherited) | {"TMPDIR": str(self.folder)}

    def prepare(self) -> None:
        """See the base class: the image has all of it.

        Raises:
            ServerError: it has no Triton.
        """
        binary = Path(self.program()[0])
        if not binary.is_file():
            remedy = "build the image from docker/Dockerfile"
            raise ServerError("here", f"there is no {_COMMAND} on PATH and no {binary}", remedy)

    def wait(self, process: subprocess.Popen[bytes], admin: Administrator, is_cancelled: Callable[[], bool]) -> None:
        """Wait until Triton has loaded what it can, however long that takes.

        A pipeline that does not load keeps the container from being ready, and the others go on serving.
        """
        while True:
            require_wanted(self, is_cancelled)
            if process.poll() is not None:
                raise ServerError(self.grpc_url, f"Triton {ending(process.returncode)}", "see its log above")
            if self._is_up(admin):
                return
            time.sleep(_POLL_S)

    def _is_up(self, admin: Administrator) -> bool:
        """Asked only once the port is open: gRPC would come back to a port that was shut ever more slowly.

        The token opens this Triton's index, and not that of another one that has taken the port.
        """
        try:
            socket.create_connection((self.host, self.ports.grpc), _CONNECT_S).close()
            admin.index()
        except (OSError, ServerError):
            return False
        return True

    def withdraw(self) -> None:
        """See the base class: nobody was told."""


def image_ports(spec: ContainerSpec) -> Ports:
    """The ports on which tritonserver listens: its own, unless the container's arguments say otherwise."""
    usual = {"http": "8000", "grpc": "8001", "metrics": "8002"}
    return Ports(*(int(flag(spec.arguments, f"--{name}-port", port)) for name, port in usual.items()))


def flag(arguments: tuple[str, ...], name: str, usual: str) -> str:
    """The value that tritonserver takes for a flag, written `--flag=value` or `--flag value`: the last one."""
    value = usual
    for place, argument in enumerate(arguments):
        key, equals, text = argument.partition("=")
        if key == name:
            value = text if equals else (*arguments, "")[place + 1]
    return value
