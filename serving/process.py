"""The Triton process: how it is started, and how it ends with everything that it started."""

import ctypes
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from serving.layout import runtime_parent
from serving.ports import Ports
from serving.spec import ServerSpec
from serving.wheel import Wheel
from trireme.state import CONTROL_KEY

_EXIT_TIMEOUT_S = 10
_PR_SET_PDEATHSIG = 1
_RESTRICTED = "model-repository,model-config,shared-memory,trace,logging"
_SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Launch:
    """All that one start of Triton needs. `folder` is private to it and goes with it."""

    spec: ServerSpec
    ports: Ports
    wheel: Wheel
    folder: Path

    @property
    def backends(self) -> Path:
        """The backend directory."""
        return self.folder / "backends"

    @property
    def log(self) -> Path:
        """Where Triton's own log goes."""
        return self.folder / "triton.log"

    @property
    def region_prefix(self) -> str:
        """The name that all shared-memory regions of this Triton begin with."""
        return self.folder.name


def spawn(launch: Launch) -> subprocess.Popen[bytes]:
    """Start Triton in a session of its own; the kernel ends it should this process die."""
    libc = ctypes.CDLL(None)
    with launch.log.open("ab") as log:
        return subprocess.Popen(
            _arguments(launch),
            env=_environment(launch),
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM),
        )


def end(process: subprocess.Popen[bytes], launch: Launch) -> None:
    """End Triton: drained if it can be, killed if it must be, with its stubs and their shared memory."""
    process.terminate()
    try:
        process.wait(_EXIT_TIMEOUT_S + 5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _kill_stubs(launch)
    for region in _SHARED_MEMORY.glob(f"{launch.region_prefix}*"):
        region.unlink(missing_ok=True)


def _kill_stubs(launch: Launch) -> None:
    """Stubs outlive a Triton that was killed, as nobody's children: they are known by their own copy of the backend."""
    stubs = [process for process in psutil.process_iter() if is_stub(process) and _runs_from(process, launch.folder)]
    for stub in stubs:
        stub.kill()
    psutil.wait_procs(stubs, timeout=5)


def _runs_from(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.cmdline()[0].startswith(str(folder))
    except (IndexError, psutil.Error):
        return False


def stubs_of(pid: int) -> list[psutil.Process]:
    """The Python backend's stub processes of a Triton."""
    try:
        return [child for child in psutil.Process(pid).children(recursive=True) if is_stub(child)]
    except psutil.NoSuchProcess:
        return []


def model_of(stub: psutil.Process) -> str:
    """The model that a stub serves; empty for one that is dying, whose command line is already gone."""
    try:
        return Path(stub.cmdline()[1]).parts[-3]
    except (IndexError, psutil.Error):
        return ""


def is_stub(process: psutil.Process) -> bool:
    """Whether a process is a living stub; a dead one that Triton has not reaped is not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE and "python_backend_stub" in " ".join(process.cmdline()[:1])
    except psutil.Error:
        return False


def _arguments(launch: Launch) -> list[str]:
    spec, ports = launch.spec, launch.ports
    names = ["python", *(path.name for path in launch.backends.iterdir() if path.name != "python")]
    return [
        str(launch.wheel.binary),
        f"--model-repository={spec.repository.resolve()}",
        f"--backend-directory={launch.backends}",
        "--model-control-mode=explicit",
        *(f"--load-model={name}" for name in spec.models),
        "--strict-readiness=false",
        # A broken pipeline is named with its reason by the readiness check, while Triton still answers.
        "--exit-on-error=false",
        "--disable-auto-complete-config",
        "--metrics-config=summary_latencies=true",
        f"--exit-timeout-secs={_EXIT_TIMEOUT_S}",
        *(f"--{name}-address={spec.host}" for name in ("http", "grpc", "metrics")),
        f"--http-port={ports.http}",
        f"--grpc-port={ports.grpc}",
        f"--metrics-port={ports.metrics}",
        f"--http-restricted-api={_RESTRICTED}:{CONTROL_KEY}={spec.control_token}",
        f"--grpc-restricted-protocol={_RESTRICTED}:{CONTROL_KEY}={spec.control_token}",
        *(f"--backend-config={name},shm-region-prefix-name={launch.region_prefix}" for name in names),
    ]


def _environment(launch: Launch) -> dict[str, str]:
    packages = [path for path in sys.path if path.endswith("site-packages")]
    return os.environ | {
        "LD_LIBRARY_PATH": launch.wheel.library_path,
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}",
        "PYTHONPATH": ":".join([str(runtime_parent()), *packages]),
        # Each stub leaves a folder there.
        "TMPDIR": str(launch.folder),
    }
