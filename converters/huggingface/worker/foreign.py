"""Safetensors files whose header names another framework than torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import load_file

from .refusal import Refusal

_FILE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_NONE = "no framework"
"""What a file is labelled with that has other metadata only, which transformers refuses to read."""
_FOREIGN = ("tf", "flax", "mlx", _NONE)
_FOREIGN_NAMES = ("kernel", "embeddings:0", ":0", "/")


def mislabelled_weights(folder: str) -> dict[str, Any] | None:
    """The weights of a file that says it is another framework's, but holds torch's tensors by torch's names.

    None for a file of torch's, or for none at all. What another framework really wrote has names of its own, and
    matrices the other way round, which no shape gives away when they are square.

    Raises:
        Refusal: the weights are another framework's.
    """
    files = _files(Path(folder))
    labels = {_label(path) for path in files} - {None}
    if not labels & set(_FOREIGN):
        return None
    weights = {name: tensor for path in files for name, tensor in load_file(str(path)).items()}
    foreign = sorted(name for name in weights if any(part in name for part in _FOREIGN_NAMES))
    if foreign:
        problem = (
            f"{files[0].name} holds another framework's weights ({', '.join(sorted(map(str, labels)))}: {foreign[0]})"
        )
        raise Refusal(problem, "save the model with torch, or export it to ONNX and give that folder")
    return weights


def _files(folder: Path) -> list[Path]:
    if (folder / _FILE).is_file():
        return [folder / _FILE]
    if not (folder / _INDEX).is_file():
        return []
    named = json.loads((folder / _INDEX).read_text(encoding="utf-8"))["weight_map"]
    return [folder / name for name in sorted(set(named.values()))]


def _label(path: Path) -> str | None:
    with safe_open(str(path), framework="pt") as content:
        metadata = content.metadata()
    return str(metadata.get("format", _NONE)) if metadata else None
