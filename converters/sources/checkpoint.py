"""Looks at a checkpoint's folder without loading anything heavy, and makes the copy that loaders may write into."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from text_runtime.manifest import sha256_of
from trireme.errors import CheckpointError

WEIGHTS = ("model_state.pdparams", "model.safetensors")
INDEX = "model.safetensors.index.json"
"""Names the shards of weights that are too large for one file."""


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


def weights_of(folder: Path) -> list[Path]:
    """The checkpoint's weights: one file, or all the shards that an index names.

    Raises:
        CheckpointError: it has none that can be read, or not all.
    """
    for name in WEIGHTS:
        if (folder / name).is_file():
            return [folder / name]
    if (folder / INDEX).is_file():
        return _shards_of(folder)
    if (folder / "pytorch_model.bin").exists():
        raise CheckpointError(folder, "has its weights as pytorch_model.bin only", "save it as model.safetensors")
    raise CheckpointError(folder, f"has none of {', '.join(WEIGHTS)}", "give the folder that save_pretrained wrote")


def _shards_of(folder: Path) -> list[Path]:
    names = read_json(folder / INDEX).get("weight_map")
    if not isinstance(names, dict) or not names:
        raise CheckpointError(folder, f"{INDEX} names no shards (weight_map)", "save or download it again")
    shards = [folder / str(name) for name in sorted(set(names.values()))]
    lost = [shard.name for shard in shards if not shard.is_file()]
    if lost:
        raise CheckpointError(folder, f"lacks {', '.join(lost)}, which {INDEX} names", "download the whole folder")
    return shards


def layout_of(weights: Path) -> str | None:
    """The framework whose layout a safetensors file has, as its header says: `pt`, `pd`, `np`; None where it is silent.

    Raises:
        CheckpointError: the file is cut short, or is no safetensors file.
    """
    try:
        with weights.open("rb") as stream:
            header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
            body = weights.stat().st_size - stream.tell()
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    except (OSError, ValueError, MemoryError, OverflowError, AttributeError, KeyError, TypeError) as error:
        problem = f"{weights.name} cannot be read ({type(error).__name__})"
        raise CheckpointError(weights.parent, problem, "save or download it again") from error
    if max(ends, default=0) != body:
        problem = f"{weights.name} is cut short: it holds {body} bytes of tensors instead of {max(ends, default=0)}"
        raise CheckpointError(weights.parent, problem, "save or download it again")
    layout = header.get("__metadata__", {}).get("format")
    return str(layout) if layout else None


def kind_of(folder: Path) -> str:
    """The kind of checkpoint, by its files: `static`, `paddlenlp` or `huggingface`.

    Raises:
        CheckpointError: its weights cannot be read.
    """
    is_dynamic = any((folder / name).is_file() for name in (*WEIGHTS, INDEX))
    if any(folder.glob("*.pd[im]*")) and not is_dynamic:  # .pdiparams, .pdmodel
        return "static"
    if not is_dynamic or (folder / WEIGHTS[0]).is_file():
        return "paddlenlp"
    return "huggingface" if layout_of(weights_of(folder)[0]) in {"pt", None} else "paddlenlp"


def hashes_of(folder: Path) -> dict[str, str]:
    """SHA-256 of every file directly in the checkpoint."""
    return {path.name: sha256_of(path) for path in sorted(folder.iterdir()) if path.is_file()}


def copy_of(folder: Path, scratch: Path, without: Sequence[str] = ()) -> Path:
    """A private copy, that of a read-only folder too: PaddleNLP writes converted weights beside the ones it reads.

    Files that match a pattern of `without` are left out.
    """
    copy = scratch / "checkpoint"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(*without), copy_function=shutil.copyfile)
    for path in (copy, *copy.rglob("*/")):
        path.chmod(0o700)
    return copy
