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
    content = _read(path)
    if not isinstance(content, dict):
        raise CheckpointError(path.parent, f"{path.name} is not a JSON object", "save it again")
    return content


def read_json_list(path: Path) -> list[dict[str, Any]]:
    """A JSON list of objects in a checkpoint.

    Raises:
        CheckpointError: it is missing or something else.
    """
    content = _read(path)
    if not isinstance(content, list) or not all(isinstance(entry, dict) for entry in content):
        raise CheckpointError(path.parent, f"{path.name} is not a list of JSON objects", "save it again")
    return content


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(
            path.parent, f"has no {path.name}", "give the folder that save_pretrained wrote"
        ) from error
    except (OSError, ValueError) as error:
        raise CheckpointError(path.parent, f"{path.name} cannot be read ({error})", "save it again") from error


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
    if (folder / "pytorch_model.bin").exists():
        raise CheckpointError(folder, "has its weights as pytorch_model.bin only", "save it as model.safetensors")
    raise CheckpointError(folder, f"has none of {', '.join(WEIGHTS)}", "give the folder that save_pretrained wrote")


def layout_of(folder: Path) -> str | None:
    """The framework whose layout the safetensors have, as their header says: `pt`, `pd`, `np`; None where it is silent.

    Raises:
        CheckpointError: the file is cut short, or is no safetensors file.
    """
    path = folder / "model.safetensors"
    try:
        with path.open("rb") as stream:
            header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
            body = path.stat().st_size - stream.tell()
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    except (OSError, ValueError, MemoryError, OverflowError, AttributeError, KeyError, TypeError) as error:
        problem = f"model.safetensors cannot be read ({type(error).__name__})"
        raise CheckpointError(folder, problem, "save or download it again") from error
    if max(ends, default=0) != body:
        problem = f"model.safetensors is cut short: it holds {body} bytes of tensors instead of {max(ends, default=0)}"
        raise CheckpointError(folder, problem, "save or download it again")
    layout = header.get("__metadata__", {}).get("format")
    return str(layout) if layout else None


def kind_of(folder: Path) -> str:
    """The kind of checkpoint, by its files: `static`, `paddlenlp` or `huggingface`."""
    if any(folder.glob("*.pdiparams")):
        return "static"
    if (folder / "model_state.pdparams").is_file() or not (folder / "model.safetensors").is_file():
        return "paddlenlp"
    return "huggingface" if layout_of(folder) in {"pt", None} else "paddlenlp"


def hashes_of(folder: Path) -> dict[str, str]:
    """SHA-256 of every file directly in the checkpoint."""
    return {path.name: sha256_of(path) for path in sorted(folder.iterdir()) if path.is_file()}


def copy_of(folder: Path, scratch: Path) -> Path:
    """A private copy: PaddleNLP writes converted weights beside the ones it reads."""
    copy = scratch / "checkpoint"
    shutil.copytree(folder, copy)
    return copy
