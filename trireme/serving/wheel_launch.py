"""A start of the wheel's Triton, on this machine's loopback."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trireme.admin import Administrator
from trireme.machine.allocator import with_allocator
from trireme.serving.launch import Launch
from trireme.serving.layout import lay_out_backends, runtime_parent
from trireme.serving.readiness import wait_until_ready
from trireme.serving.spec import ServerSpec
from trireme.serving.state import remove_state, write_state
from trireme.serving.wheel import Wheel

_READY_TIMEOUT_S = 300.0


@dataclass(frozen=True)
class WheelLaunch(Launch):
    """All that one start of the wheel's Triton needs."""

    spec: ServerSpec
    wheel: Wheel

    idle_s = 1.5

    @property
    def host(self) -> str:
        """See the base class."""
        return self.spec.host

    @property
    def backends(self) -> Path:
        """See the base class; private to this Triton."""
        return self.folder / "backends"

    @property
    def log(self) -> Path:
        """See the base class."""
        return self.folder / "triton.log"

    @property
    def drain_timeout_s(self) -> int:
        """See the base class."""
        return 10

    def program(self) -> list[str]:
        """See the base class."""
        return [
            str(self.wheel.binary),
            f"--backend-directory={self.backends}",
            *(f"--{name}-address={self.host}" for name in ("http", "grpc", "metrics")),
            f"--http-port={self.ports.http}",
            f"--grpc-port={self.ports.grpc}",
            f"--metrics-port={self.ports.metrics}",
            f"--log-verbose={self.spec.log_verbosity}",
        ]

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

    def prepare(self) -> None:
        """Lay out the backend directory."""
        lay_out_backends(self.backends, self.wheel)

    def wait(self, process: subprocess.Popen[bytes], admin: Administrator, is_cancelled: Callable[[], bool]) -> None:
        """Wait until every pipeline answers, and tell this user's other commands."""
        wait_until_ready(self, process, admin, is_cancelled, _READY_TIMEOUT_S)
        write_state(self, process.pid)

    def withdraw(self) -> None:
        """Remove what told them."""
        remove_state(self)
