"""Looks at a checkpoint's folder without loading anything heavy, and makes the copy that loaders may write into."""

import json
import shutil
from pathlib import Path
from typing import Any

from text_runtime.manifest import sha256_of
from trireme.errors import CheckpointError

WEIGHTS = ("model_state.pdparams", "model.safetensors")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object in a checkpoint.

    Raises:
        CheckpointError: it is missing or not a JSON object.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(
            path.parent, f"has no {path.name}", "give the folder that save_pretrained wrote"
        ) from error
    except (OSError, ValueError) as error:
        raise CheckpointError(path.parent, f"{path.name} cannot be read ({error})", "save it again") from error
    if not isinstance(content, dict):
        raise CheckpointError(path.parent, f"{path.name} is not a JSON object", "save it again")
    return content


def require_folder(path: Path) -> None:
    """Refuse what is not a local folder; nothing is ever fetched by name.

    Raises:
        CheckpointError: there is no such folder.
    """
    if path.is_dir():
        return
    if path.exists():
        raise CheckpointError(path, "is a file", "give the folder that save_pretrained wrote")
    command = f"huggingface-cli download {path} --local-dir DIR"
    remedy = f"nothing is fetched by name: download it first (`{command}`) and give DIR"
    raise CheckpointError(path, "no such folder", remedy)


def weights_of(folder: Path) -> Path:
    """The checkpoint's weights file.

    Raises:
        CheckpointError: it has none that can be read.
    """
    for name in WEIGHTS:
        if (folder / name).is_file():
            return folder / name
    raise CheckpointError(folder, f"has none of {', '.join(WEIGHTS)}", "give the folder that save_pretrained wrote")


def hashes_of(folder: Path) -> dict[str, str]:
    """SHA-256 of every file directly in the checkpoint."""
    return {path.name: sha256_of(path) for path in sorted(folder.iterdir()) if path.is_file()}


def copy_of(folder: Path, scratch: Path) -> Path:
    """A private copy: PaddleNLP writes converted weights beside the ones it reads."""
    copy = scratch / "checkpoint"
    shutil.copytree(folder, copy)
    return copy
