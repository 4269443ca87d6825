"""The launcher over a release with a plan: it starts Triton on the machine of the plan, and nowhere else.

`nvidia-smi` and TensorRT's library are stood in for by a script and a library that say what a machine would.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.planned import BUILT_ON, copy_with_plan
from text_runtime.machine import Machine
from trireme.machine.free_ports import free_ports

ROOT = Path(__file__).resolve().parents[2]
PLAN_LINE = "plan check: 'sentiment' release 1: "


@dataclass(frozen=True)
class Stage:
    """A model repository, and a machine made of stand-ins on PATH and on the library path."""

    folder: Path

    def be(self, machine: Machine, gpus: int = 1) -> None:
        """Make this machine have those versions."""
        self._script("tritonserver", f"touch {self.folder}/started")
        row = f"{machine.compute_capability}, {machine.driver}, {machine.gpu}"
        self._script("nvidia-smi", "\n".join([f"echo '{row}'"] * gpus))
        major, minor, patch = map(int, machine.tensorrt.split("."))
        source = f"int getInferLibVersion(void) {{ return {major * 10000 + minor * 100 + patch}; }}"
        library = self.folder / "lib" / "libnvinfer.so.10"
        library.parent.mkdir(exist_ok=True)
        command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
        subprocess.run(command, input=source, text=True, check=True)

    def _script(self, name: str, body: str) -> None:
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def start(self) -> tuple[bool, str]:
        """Run the launcher; gives whether Triton was started, and what was said."""
        environment = {
            "PATH": f"{self.folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}/python_backends:{sysconfig.get_path('purelib')}",
            "LD_LIBRARY_PATH": f"{self.folder}/lib",
            "MODEL_REPOSITORY": f"{self.folder}/models",
            "TRIREME_HEALTH_ADDRESS": f"127.0.0.1:{free_ports('127.0.0.1', 1)[0]}",
        }
        command = [sys.executable, "-m", "trireme.serving"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        has_started = (self.folder / "started").exists()
        assert has_started == (done.returncode == 0)
        return has_started, done.stderr


@pytest.fixture
def stage(gpu_repository: Path, tmp_path: Path) -> Stage:
    """A release with a plan, on no machine yet."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    copy_with_plan(gpu_repository, tmp_path / "models")
    return Stage(tmp_path)


def test_the_machine_of_the_plan_serves_it(stage: Stage) -> None:
    stage.be(BUILT_ON, gpus=2)
    has_started, _ = stage.start()
    assert has_started


@pytest.mark.parametrize(
    ("machine", "named"),
    [
        (Machine("10.13.3", "9.0", "595.71.05", "NVIDIA H200"), "TensorRT 10.16.1, this machine has 10.13.3"),
        (Machine("10.16.1", "8.9", "595.71.05", "NVIDIA L4"), "compute capability 9.0, this machine has 8.9"),
        (Machine("10.16.1", "9.0", "580.95.05", "NVIDIA H200"), "driver 595.71.05, this machine has 580.95.05"),
    ],
    ids=["TensorRT", "card", "driver"],
)
def test_another_machine_is_refused_before_triton_starts(stage: Stage, machine: Machine, named: str) -> None:
    stage.be(machine)
    has_started, said = stage.start()
    assert not has_started
    assert said.startswith(PLAN_LINE)
    assert named in said
    assert "docker compose run --rm build-plan sentiment 1" in said


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("sentiment_encoder/1/plan.json", None, "it has no plan yet"),
        ("sentiment_encoder/1/model.plan", "another", "not the one that plan.json describes"),
        ("sentiment_encoder/1/manifest.json", "", "a release cannot be read"),
    ],
)
def test_a_plan_that_is_missing_or_changed_is_refused(stage: Stage, name: str, content: str | None, named: str) -> None:
    stage.be(BUILT_ON)
    path = stage.folder / "models" / name
    path.unlink()
    if content is not None:
        path.write_text(content)
    has_started, said = stage.start()
    assert not has_started
    assert named in said


def test_only_loaded_releases_need_a_plan(stage: Stage) -> None:
    stage.be(BUILT_ON)
    encoder = stage.folder / "models" / "sentiment_encoder"
    shutil.copytree(encoder / "1", encoder / "2")
    (encoder / "2" / "plan.json").unlink()
    assert stage.start()[0]
    config = encoder / "config.pbtxt"
    config.write_text(config.read_text().replace("versions: [1]", "versions: [1, 2]"))
    (stage.folder / "started").unlink()
    has_started, said = stage.start()
    assert not has_started
    assert "release 2: it has no plan yet" in said


def test_a_machine_without_a_gpu_is_refused_in_one_line(stage: Stage) -> None:
    stage.be(BUILT_ON)
    (stage.folder / "bin" / "nvidia-smi").write_text("#!/bin/sh\necho 'No devices were found' >&2\nexit 6\n")
    has_started, said = stage.start()
    assert not has_started
    assert said.startswith("plan check: a TensorRT plan cannot be served here: nvidia-smi does not answer")
