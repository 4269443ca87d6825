"""What the image installs: the runtime's packages from the lock file, by hash, for the image's Python."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "docker/Dockerfile").read_text()
NETWORK = re.compile("no such host|dns error|error sending request|Network is unreachable")


def test_no_stage_ends_as_root_and_no_tag_floats() -> None:
    assert re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE) == ["1000:1000"]
    sources = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    stages = set(re.findall(r" AS (\S+)$", DOCKERFILE, re.MULTILINE))
    assert {source.rpartition(":")[2] for source in sources if source not in stages} == {"${UV_TAG}", "${TRITON_TAG}"}


def test_plans_are_built_by_the_polygraphy_of_the_lock_file() -> None:
    (version,) = re.findall(r'"polygraphy==(\S+)"', DOCKERFILE)
    assert f'name = "polygraphy"\nversion = "{version}"' in (ROOT / "uv.lock").read_text()


def test_every_copied_path_exists_and_reaches_the_build() -> None:
    sources = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
        if not source.startswith("--")
    ]
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(source == entry or source.startswith(entry) for entry in allowed), source


def test_packages_are_frozen_hashed_and_never_built() -> None:
    flags = "--frozen|--extra generation|--no-emit-project|--require-hashes|--only-binary :all:"
    assert [flag for flag in flags.split("|") if flag not in DOCKERFILE] == []


def test_the_runtime_exports_without_paddle_and_without_the_command_line() -> None:
    names = {line.split("==")[0] for line in _requirements().splitlines() if "==" in line}
    assert {"msgspec", "numpy", "onnxruntime", "openvino", "orjson", "tokenizers"} <= names
    assert {"grpcio", "prometheus-client", "protobuf", "psutil", "tritonclient"} <= names
    assert not {"paddlepaddle", "paddlenlp", "nvidia-pytriton", "typer", "torch", "aiohttp", "geventhttpclient"} & names


@pytest.mark.parametrize("platform", ["x86_64-manylinux_2_39", "aarch64-manylinux_2_39"])
def test_every_package_has_a_wheel_for_the_images_python(platform: str, tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(_requirements())
    command = [*_uv(), "pip", "install", "--dry-run", "--target", str(tmp_path / "packages")]
    command += ["--python", sys.executable, "--python-version", "3.12", "--python-platform", platform]
    command += ["--require-hashes", "--only-binary", ":all:", "-r", str(requirements)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if NETWORK.search(finished.stderr):
        pytest.skip("needs a package index")
    assert finished.returncode == 0, finished.stderr


def _requirements() -> str:
    export = re.findall(r"uv (export .+?)--output-file", DOCKERFILE, re.DOTALL)[0]
    arguments = export.replace("\\\n", " ").split()
    command = [*_uv(), *arguments, "--quiet"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _uv() -> list[str]:
    found = shutil.which("uv", path=f"{os.environ['PATH']}:{ROOT}/.tools/bin")
    if found is None:
        pytest.skip("needs uv")
    return [found]


def test_the_launcher_needs_only_the_rooms_and_packages_that_the_image_has() -> None:
    program = "import sys, trireme.serving.__main__; print(*sorted(name for name in sys.modules if '.' not in name))"
    program += "; print(*sorted(name for name in sys.modules if name.startswith('trireme.')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    libraries, modules = (line.split() for line in done.stdout.splitlines())
    assert not {"aiohttp", "gevent", "geventhttpclient", "greenlet", "rich", "tenacity", "typer"} & set(libraries)
    copies = " ".join(re.findall(r"^COPY (trireme/.+) \S+$", DOCKERFILE, re.MULTILINE)).split()
    rooms = {path.removesuffix(".py") for path in copies} - {"trireme/__init__", "trireme"}
    assert {"/".join(module.split(".")[:2]) for module in modules} == rooms


def test_a_models_process_finds_our_packages_without_pythonpath() -> None:
    (folders,) = re.findall(r"printf '%s\\n' (.+) > \"\$\{folder\}/trireme\.pth\"", DOCKERFILE)
    assert f"PYTHONPATH={':'.join(folders.split())}" in DOCKERFILE
