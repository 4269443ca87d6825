"""The environment with torch, transformers and sentence-transformers that `trireme hf-environment` makes, once.

pip installs it, since only pip finds the CPU builds of torch that some machines and indexes keep for it. Versions are
pinned here and nowhere else: a release's manifest says which ones exported it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from trireme.errors import InterpreterError

VARIABLE = "TRIREME_HF_ENVIRONMENT"
TORCH = "torch==2.13.0"
PACKAGES = (
    "transformers==4.57.6",
    "sentence-transformers==5.1.2",
    "tokenizers==0.22.2",
    "onnx==1.23.2",
    "onnxscript==0.7.2",
    "optimum-intel==2.2.0",
    "openvino==2026.4.1",
    "openvino-tokenizers==2026.4.1.0",
    "nncf==3.4.0",
    "sentencepiece==0.2.1",
    "protobuf",
)
_DONE = ".complete"


def environment_folder() -> Path:
    """`$TRIREME_HF_ENVIRONMENT`, or a folder among this user's data."""
    named = os.environ.get(VARIABLE)
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return Path(named) if named else data / "trireme" / "huggingface"


def python_of(folder: Path) -> Path:
    """The environment's interpreter."""
    return folder / "bin" / "python"


def make_environment(folder: Path, torch_index: str | None, progress: Callable[[str], None]) -> Path:
    """Make the environment, or find it made; gives its interpreter.

    Args:
        folder: where it goes. One that an earlier call left half-made is made anew.
        torch_index: a package index with CPU builds of torch; None takes the usual index.
        progress: called with a line for each step.

    Raises:
        InterpreterError: the folder holds something else, or a package could not be installed.
    """
    wanted = "\n".join((TORCH, *PACKAGES))
    if _is_made(folder, wanted):
        progress(f"{folder} is there already")
        return python_of(folder)
    if folder.exists() and not (folder / "pyvenv.cfg").is_file() and any(folder.iterdir()):
        raise InterpreterError(f"{folder} holds something else", "name an empty or a new folder with --folder")
    shutil.rmtree(folder, ignore_errors=True)
    progress(f"making {folder}")
    _run(folder, [sys.executable, "-m", "venv", str(folder)])
    install = [str(python_of(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    progress(f"installing {TORCH} (200 MB as a CPU build)")
    _run(folder, [*install, *(["--index-url", torch_index] if torch_index else []), TORCH])
    progress(f"installing {', '.join(PACKAGES)}")
    _run(folder, [*install, *PACKAGES])
    (folder / _DONE).write_text(wanted, encoding="utf-8")
    return python_of(folder)


def _is_made(folder: Path, wanted: str) -> bool:
    mark = folder / _DONE
    return mark.is_file() and mark.read_text(encoding="utf-8") == wanted and python_of(folder).exists()


def _run(folder: Path, command: list[str]) -> None:
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    try:
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", env=own)
    except OSError as error:
        raise InterpreterError(f"{command[0]} does not start ({error})", "mend that and run it again") from error
    if ended.returncode:
        lines = [line.strip() for line in (ended.stderr + ended.stdout).splitlines() if line.strip()]
        said = next(
            (line for line in lines if "ERROR" in line or "rror:" in line), lines[-1] if lines else "no reason given"
        )
        raise InterpreterError(f"`{' '.join(command)}` failed ({said})", "mend that and run it again")
