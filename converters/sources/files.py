"""Refuses what lies in a checkpoint's folder and is no file that can be read, before any library stumbles over it."""

import stat
from pathlib import Path

from trireme.errors import CheckpointError

_POINTER = b"version https://git-lfs"
_SUFFIXES = (
    *(".json", ".txt", ".model", ".vocab", ".jinja"),
    *(".safetensors", ".bin", ".pdparams", ".pdiparams", ".pdmodel", ".onnx", ".onnx_data"),
)
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


def require_files(folder: Path) -> None:
    """Look at every file that an export might read, in the folder and in the folders directly in it.

    Raises:
        CheckpointError: one is a link to nothing, a pipe, a device, a git-lfs pointer, or may not be read.
    """
    try:
        found = sorted((*folder.iterdir(), *folder.glob("*/*")))
    except OSError as error:
        problem = f"cannot be looked into ({error.strerror or error})"
        raise CheckpointError(folder, problem, "make it readable") from error
    for path in found:
        if path.suffix in _SUFFIXES and not path.name.startswith("."):
            require_readable(folder, path)


def require_readable(folder: Path, path: Path) -> None:
    """Look at one file of a checkpoint's folder.

    Raises:
        CheckpointError: it is no regular file, is a git-lfs pointer, or may not be read.
    """
    name = path.relative_to(folder)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
            raise CheckpointError(folder, f"{name} is {kind}, not a file", "put the file itself there")
        with path.open("rb") as stream:
            start = stream.read(len(_POINTER))
    except OSError as error:
        if path.is_symlink():
            problem = f"{name} is a link to {path.readlink()}, which cannot be followed"
            raise CheckpointError(folder, problem, "put the file itself there, or download it again") from error
        problem = f"{name} cannot be read ({error.strerror or error})"
        raise CheckpointError(folder, problem, "make it readable") from error
    if start == _POINTER:
        raise CheckpointError(folder, f"{name} is a git-lfs pointer, not the file itself", "run `git lfs pull` in it")
