"""Looks at a checkpoint's folder without loading anything heavy, and makes the copy that loaders may write into."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from converters.sources.files import require_readable
from text_runtime.manifest import sha256_of
from trireme.errors import CheckpointError

PADDLE_WEIGHTS = "model_state.pdparams"
SAFETENSORS = "model.safetensors"
PICKLED = "pytorch_model.bin"
WEIGHTS = (PADDLE_WEIGHTS, SAFETENSORS, PICKLED)
INDEX = f"{SAFETENSORS}.index.json"
"""Names the shards of weights that are too large for one file."""
_INDEXES = (INDEX, f"{PICKLED}.index.json", f"{PADDLE_WEIGHTS}.index.json")
ONNX_NAMES = ("model.onnx", "onnx/model.onnx")
"""Where hubs and exporters leave a graph."""
_PADDLE_FORMATS = ("pd", "np")
_SMALL_SUFFIXES = (".json", ".txt", ".model", ".vocab", ".jinja")
"""What stands beside weights and may change an answer: configs, vocabularies, merges, SentencePiece models."""


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
    except RecursionError as error:
        raise CheckpointError(path.parent, f"{path.name} is nested too deep to be read", "save it again") from error
    except (OSError, ValueError) as error:
        raise CheckpointError(path.parent, f"{path.name} cannot be read ({error})", "save it again") from error


def require_folder(path: Path) -> None:
    """Refuse what is not a local folder; nothing is ever fetched by name.

    Raises:
        CheckpointError: there is no such folder.
    """
    if path.is_dir():
        return
    if path.is_symlink() and not path.exists():
        raise CheckpointError(path, f"is a link to {path.readlink()}, which is not there", "give the folder itself")
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
    for name in _INDEXES:
        if (folder / name).is_file():
            return _shards_of(folder, name)
    raise CheckpointError(folder, f"has none of {', '.join(WEIGHTS)}", "give the folder that save_pretrained wrote")


def checked_weights(folder: Path) -> list[Path]:
    """As `weights_of`, each safetensors file being whole.

    Raises:
        CheckpointError: there are none, or one of them is damaged.
    """
    weights = weights_of(folder)
    for path in weights:
        if path.suffix == ".safetensors":
            layout_of(path)
    return weights


def require_used(folder: Path, architecture: str, unused: Sequence[str]) -> None:
    """Refuse weights that the model has no place for.

    Raises:
        CheckpointError: there are such weights, by their names.
    """
    if unused:
        problem = f"{len(unused)} weights of the file are not used by {architecture}, {unused[0]} the first"
        raise CheckpointError(folder, problem, "give the checkpoint in the architecture that it was trained in")


def require_complete(folder: Path, architecture: str, lost: Sequence[str]) -> None:
    """Refuse a model that would be random where the file has nothing.

    Raises:
        CheckpointError: the file lacks weights, by their names.
    """
    if lost:
        problem = f"the weights lack {len(lost)} of {architecture}'s, {lost[0]} the first"
        raise CheckpointError(folder, problem, "give the checkpoint of the whole model, its head included")


def _shards_of(folder: Path, index: str) -> list[Path]:
    names = read_json(folder / index).get("weight_map")
    if not isinstance(names, dict) or not names:
        raise CheckpointError(folder, f"{index} names no shards (weight_map)", "save or download it again")
    files = sorted({str(name) for name in names.values()})
    if outside := [name for name in files if Path(name).name != name]:
        raise CheckpointError(
            folder, f"{index} names {outside[0]}, which is no file's name", "save or download it again"
        )
    shards = [folder / name for name in files]
    lost = [shard.name for shard in shards if not shard.is_file()]
    if lost:
        raise CheckpointError(folder, f"lacks {', '.join(lost)}, which {index} names", "download the whole folder")
    return shards


def layout_of(weights: Path) -> str | None:
    """The framework whose layout a safetensors file has, as its header says: `pt`, `pd`, `np`; None where it is silent.

    Raises:
        CheckpointError: the file is cut short, or is no safetensors file.
    """
    try:
        with weights.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            if size > weights.stat().st_size:
                raise ValueError("its header is longer than the file")
            header = json.loads(stream.read(size))
            body = weights.stat().st_size - stream.tell()
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        layout = header.get("__metadata__", {}).get("format")
        is_whole = max(ends, default=0) == body
    except (OSError, ValueError, MemoryError, OverflowError, RecursionError, *_WRONG_SHAPE) as error:
        problem = f"{weights.name} cannot be read ({type(error).__name__})"
        raise CheckpointError(weights.parent, problem, "save or download it again") from error
    if not is_whole:
        problem = f"{weights.name} is cut short: it holds {body} bytes of tensors instead of {max(ends, default=0)}"
        raise CheckpointError(weights.parent, problem, "save or download it again")
    return str(layout) if layout else None


_WRONG_SHAPE = (AttributeError, KeyError, TypeError, IndexError)
"""What a JSON header of another form than safetensors' ends in."""


def kind_of(folder: Path) -> str:
    """The kind of checkpoint, by its files: `huggingface`, `onnx`, `paddlenlp` or `static`.

    Raises:
        CheckpointError: its weights cannot be read.
    """
    if not any((folder / name).is_file() for name in (*WEIGHTS, *_INDEXES)):
        return _kind_without_weights(folder)
    if (folder / "modules.json").is_file():
        return "huggingface"
    first = weights_of(folder)[0]
    if first.suffix != ".safetensors":
        return "paddlenlp" if first.suffix == ".pdparams" else "huggingface"
    return "paddlenlp" if layout_of(first) in _PADDLE_FORMATS else "huggingface"


def _kind_without_weights(folder: Path) -> str:
    """The kind of a folder whose weights are in a graph, or in the folder of a module."""
    if any(folder.glob("*.pd[im]*")):  # .pdiparams, .pdmodel
        return "static"
    if any((folder / name).is_file() for name in ONNX_NAMES):
        return "onnx"
    config = folder / "config.json"
    is_paddle = config.is_file() and "paddlenlp_version" in read_json(config)
    return "paddlenlp" if is_paddle else "huggingface"


def hashes_of(folder: Path, *loaded: Path) -> dict[str, str]:
    """SHA-256 of every small file that may change an answer, and of the weights that were `loaded`, by path inside."""
    return {str(path.relative_to(folder)): sha256_of(path) for path in sorted({*_small_files(folder), *loaded})}


def copy_of(folder: Path, scratch: Path, *loaded: Path) -> Path:
    """A private copy, that of a read-only folder too: PaddleNLP writes converted weights beside the ones it reads.

    Only what is loaded is copied: small files and the `loaded` weights, not states of optimizers that lie beside them.
    """
    copy = scratch / "checkpoint"
    for path in (*_small_files(folder), *loaded):
        target = copy / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return copy


def _small_files(folder: Path) -> Iterator[Path]:
    """The files beside the weights, in the folder and in the folders directly in it, checked to be readable."""
    for path in sorted((*folder.iterdir(), *folder.glob("*/*"))):
        if path.suffix in _SMALL_SUFFIXES and not path.is_dir():
            require_readable(folder, path)
            yield path
