"""A real Triton (the wheel's binary) under the container's own launcher, with tiny pipelines."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from trireme.machine.free_ports import free_ports
from trireme.serving.wheel import locate_wheel

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "0123456789abcdef0123456789abcdef"
READY_S = 60.0

CLASSIFIER = """
import numpy as np
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        return [self._answer(request) for request in requests]

    def _answer(self, request):
        text = pb_utils.get_input_tensor_by_name(request, "text").as_numpy()
        best = np.array([[len(row[0]) % 2] for row in text])
        outputs = {
            "label": np.where(best == 1, b"odd", b"even").astype(np.object_),
            "score": np.full(best.shape, 0.9, dtype=np.float32),
            "scores": np.where(best == [0, 1], 0.9, 0.1).astype(np.float32),
            "truncated_chars": np.zeros(best.shape, dtype=np.int32),
        }
        return pb_utils.InferenceResponse([pb_utils.Tensor(*output) for output in outputs.items()])
"""
_TENSORS = """
max_batch_size: 8
input [{ name: "text" data_type: TYPE_STRING dims: [1] }]
output [
  { name: "label" data_type: TYPE_STRING dims: [1] },
  { name: "score" data_type: TYPE_FP32 dims: [1] },
  { name: "scores" data_type: TYPE_FP32 dims: [2] },
  { name: "truncated_chars" data_type: TYPE_INT32 dims: [1] }
]
"""
_ENSEMBLE = """
platform: "ensemble"
ensemble_scheduling { step [{
  model_name: "NAME_tokenizer" model_version: 1
  input_map { key: "text" value: "text" }
  output_map { key: "label" value: "label" }
  output_map { key: "score" value: "score" }
  output_map { key: "scores" value: "scores" }
  output_map { key: "truncated_chars" value: "truncated_chars" }
}] }
"""


@dataclass(frozen=True)
class Ports:
    """Where a server listens on loopback."""

    http: int
    grpc: int
    metrics: int
    health: int


@dataclass(frozen=True)
class Container:
    """What stands for a container here: the launcher's process, its environment and its ports."""

    process: subprocess.Popen[bytes]
    environment: dict[str, str]
    ports: Ports
    log: Path
    token: str = TOKEN

    def healthcheck(self) -> subprocess.CompletedProcess[str]:
        """Run the container's health check inside it."""
        command = [sys.executable, str(ROOT / "docker/healthcheck.py")]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)

    def probe(self, path: str) -> tuple[int, str]:
        """What an orchestrator is answered: the status, and why."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.ports.health}{path}", timeout=30) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def wait_until(self, path: str, status: int, within_s: float = 20.0) -> str:
        """Wait until a probe has a status; gives what it says."""
        deadline = time.monotonic() + within_s
        while (found := self.probe(path))[0] != status:
            assert time.monotonic() < deadline, found
            time.sleep(0.1)
        return found[1]

    def metrics(self) -> str:
        """What Prometheus would read."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports.metrics}/metrics", timeout=5) as response:
            text: bytes = response.read()
        return text.decode()

    def stop(self) -> int:
        """End it as `docker stop` does, and give the exit status."""
        return stop(self.process)


def write_pipeline(repository: Path, name: str, source: str = CLASSIFIER) -> None:
    """Write a pipeline of text-classification: one ensemble over one step with this `model.py`."""
    step = repository / f"{name}_tokenizer"
    (step / "1").mkdir(parents=True)
    (step / "1" / "model.py").write_text(source)
    (step / "config.pbtxt").write_text('backend: "python"\ninstance_group [{ kind: KIND_CPU }]\n' + _TENSORS)
    (repository / name / "1").mkdir(parents=True)
    (repository / name / "config.pbtxt").write_text(_ENSEMBLE.replace("NAME", name) + _TENSORS)


def running(folder: Path) -> Iterator[Container]:
    """The launcher over `folder/models`, ready, and stopped at the end; for a fixture to yield from."""
    pytest.importorskip("pytriton", reason="needs the wheel's Triton: install the extra serve")
    started = start(folder)
    try:
        wait_until_ready(started)
        yield started
    finally:
        stop(started.process)


def start(folder: Path) -> Container:
    """Start the launcher over `folder/models`."""
    ports = Ports(*free_ports("127.0.0.1", 4))
    environment = container_environment(folder, ports)
    log = folder / "triton.log"
    flags = [f"--http-port={ports.http}", f"--grpc-port={ports.grpc}", f"--metrics-port={ports.metrics}"]
    flags += [
        "--http-address=127.0.0.1",
        "--grpc-address=127.0.0.1",
        f"--backend-directory={folder / 'backends'}",
    ]
    with log.open("wb") as stream:
        command = [sys.executable, "-m", "trireme.serving", *flags]
        process = subprocess.Popen(command, env=environment, stdout=stream, stderr=stream)
    return Container(process, environment, ports, log)


def container_environment(folder: Path, ports: Ports) -> dict[str, str]:
    """The environment that stands for the image's: `tritonserver` on PATH, the token in a file."""
    (folder / "bin").mkdir()
    install_triton(folder / "bin" / "tritonserver", folder / "backends")
    (folder / "token").write_text(TOKEN + "\n")
    return {
        "PATH": os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "MODEL_REPOSITORY": str(folder / "models"),
        "TRIREME_CONTROL_TOKEN_FILE": str(folder / "token"),
        "TRIREME_EXIT_TIMEOUT_S": "3",
        "TRIREME_HEALTH_ADDRESS": f"127.0.0.1:{ports.health}",
    }


def install_triton(command: Path, backends: Path) -> None:
    """Put the wheel's Triton at `command`, and its Python backend with this Python's stub under `backends`."""
    wheel = locate_wheel()
    shutil.copytree(wheel.python_backend, backends / "python")
    shutil.copy(wheel.stub, backends / "python")
    command.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={wheel.library_path} exec {wheel.binary} "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)


def wait_until_ready(container: Container) -> None:
    """Wait until Triton's own readiness answers, and the launcher has seen it."""
    deadline = time.monotonic() + READY_S
    url = f"http://127.0.0.1:{container.ports.http}/v2/health/ready"
    while time.monotonic() < deadline and container.process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=1):
                if "Triton is up" in container.log.read_text(errors="replace"):
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.1)
    pytest.fail(f"Triton did not become ready:\n{container.log.read_text(errors='replace')[-4000:]}")


def stop(process: subprocess.Popen[bytes]) -> int:
    """End a server as `docker stop` does, and give its exit status."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        return process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
