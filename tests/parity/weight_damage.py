"""Damage to weights: tensors missing, too many, of other shapes and types, and headers that lie."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

Tensors = dict[str, Any]
_Change = Callable[[Tensors, str, random.Random], None]


class NoTensors(Exception):
    """The folder has no safetensors."""


def _weights(folder: Path, chance: random.Random) -> Path:
    found = sorted(folder.rglob("*.safetensors"))
    if not found:
        raise NoTensors
    return chance.choice(found)


def _on_tensors(change: _Change) -> Callable[[Path, random.Random], str]:
    """A change to one tensor, picked by chance."""

    def damage(folder: Path, chance: random.Random) -> str:
        path = _weights(folder, chance)
        try:
            tensors = load_file(path)
        except Exception as error:  # a precision that numpy lacks
            raise NoTensors from error
        name = chance.choice(sorted(tensors))
        change(tensors, name, chance)
        save_file({key: np.ascontiguousarray(value) for key, value in tensors.items()}, path, {"format": "pt"})
        return name

    return damage


def _missing(tensors: Tensors, name: str, _: random.Random) -> None:
    del tensors[name]


def _extra(tensors: Tensors, name: str, chance: random.Random) -> None:
    tensors[chance.choice(("adapter.weight", f"{name}.lora_A", "x", ""))] = tensors[name].copy()


def _other_shape(tensors: Tensors, name: str, chance: random.Random) -> None:
    value = tensors[name]
    tensors[name] = chance.choice((value.ravel()[:-1], value[..., None], np.concatenate([value, value]), value.ravel()))


def _other_type(tensors: Tensors, name: str, chance: random.Random) -> None:
    tensors[name] = tensors[name].astype(chance.choice((np.int64, np.uint8, np.bool_, np.float64, np.int8)))


def _not_a_number(tensors: Tensors, name: str, chance: random.Random) -> None:
    tensors[name] = np.full_like(tensors[name], chance.choice((np.nan, np.inf, 1e30)))


def _renamed(tensors: Tensors, name: str, _: random.Random) -> None:
    tensors[f"model.{name}"] = tensors.pop(name)


def _lying_header(folder: Path, chance: random.Random) -> str:
    """A header whose JSON says other places, shapes or lengths than the file has."""
    path = _weights(folder, chance)
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    lie = chance.choice(("length", "offsets", "shape", "dtype", "no object", "metadata"))
    name = chance.choice(sorted(key for key in header if key != "__metadata__"))
    if lie == "length":
        path.write_bytes(chance.choice((2**40, 2**63, 0, 7)).to_bytes(8, "little") + content[8:])
        return lie
    changes: dict[str, Any] = {
        "offsets": {"data_offsets": chance.choice(([0, 2**50], [-4, 0], [8, 4], "x", None))},
        "shape": {"shape": chance.choice(([2**40, 2**40], [-1], "x", [1.5]))},
        "dtype": {"dtype": chance.choice(("F33", None, "I8", "BOOL"))},
    }
    header[name] = header[name] | changes.get(lie, {})
    if lie == "metadata":
        header["__metadata__"] = chance.choice(({"format": "nothing"}, [], "x", {"format": 3}))
    text = json.dumps([header] if lie == "no object" else header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + size :])
    return f"{lie} of {name}"


WEIGHT_DAMAGES: dict[str, Callable[[Path, random.Random], str]] = {
    "tensor missing": _on_tensors(_missing),
    "tensor too many": _on_tensors(_extra),
    "tensor of another shape": _on_tensors(_other_shape),
    "tensor of another type": _on_tensors(_other_type),
    "tensor of no numbers": _on_tensors(_not_a_number),
    "tensor renamed": _on_tensors(_renamed),
    "header that lies": _lying_header,
}
"""By name; each says what it did, or raises `NoTensors`."""
