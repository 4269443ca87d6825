"""The backend directory that Triton is started with: the wheel's Python backend, and ours beside it."""

import re
import shutil
from pathlib import Path

import text_runtime
from trireme.errors import ServerError
from trireme.serving.wheel import Wheel

# Triton starts the stub through a shell line that quotes nothing.
_SAFE_PATH = re.compile(r"[A-Za-z0-9_./+@=:,-]+")


def lay_out_backends(folder: Path, wheel: Wheel) -> None:
    """Fill `folder` with one folder a backend.

    Raises:
        ServerError: a path holds blanks or shell characters, which Triton cannot take.
    """
    require_safe_path(folder)
    python = folder / "python"
    shutil.copytree(wheel.python_backend, python)
    shutil.copy2(wheel.stub, python / wheel.stub.name)
    for backend in our_backends():
        require_safe_path(backend)
        (folder / backend.name).symlink_to(backend, target_is_directory=True)


def our_backends() -> list[Path]:
    """The folders of our Triton backends; they stand beside `text_runtime`, or in the installed `python_backends`."""
    beside = runtime_parent()
    roots = [beside, beside / "python_backends"]
    return sorted(path.parent for root in roots for path in root.glob("text_*/model.py"))


def runtime_parent() -> Path:
    """The folder from which `text_runtime` is imported."""
    return Path(text_runtime.__path__[0]).parent


def require_safe_path(path: Path) -> None:
    """Refuse a path that Triton's shell line would break.

    Raises:
        ServerError: the path holds blanks or shell characters.
    """
    if not _SAFE_PATH.fullmatch(str(path)):
        raise ServerError("here", f"Triton cannot use the path '{path}'", "move it to one without blanks and quotes")
