"""Changes to the files of a saved checkpoint."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

WEIGHTS = "model.safetensors"


def edit_json(path: Path, changes: dict[str, Any]) -> None:
    """Set keys of a JSON object; those of the value None are taken out."""
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    kept = {key: value for key, value in content.items() if changes.get(key, "") is not None}
    path.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")


def load_tensors(folder: Path) -> dict[str, Any]:
    """The checkpoint's tensors by name."""
    return dict(load_file(folder / WEIGHTS))


def save_tensors(folder: Path, tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> None:
    """Write tensors in the place of the checkpoint's."""
    kept = {name: tensor.clone().contiguous() for name, tensor in tensors.items()}
    save_file(kept, folder / WEIGHTS, {"format": "pt"} if metadata is None else metadata)
