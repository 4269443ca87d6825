"""How a checkpoint makes one embedding of a text: what sentence-transformers wrote beside it, or the user's word."""

from dataclasses import dataclass
from pathlib import Path

from converters.sources.base import Pooling
from converters.sources.checkpoint import read_json, read_json_list
from trireme.errors import CheckpointError

_MODES = {"pooling_mode_cls_token": Pooling.CLS, "pooling_mode_mean_tokens": Pooling.MEAN}
_REMEDY = "use --pooling cls, mean or pooler"
_KNOWN = ("Transformer", "Pooling", "Normalize")


@dataclass(frozen=True)
class EmbeddingRecipe:
    """Pooling, whether vectors are scaled to length 1, and the longest row that the recipe's author reads."""

    pooling: Pooling
    is_normalized: bool
    longest: int | None = None


def recipe_of(folder: Path, wanted: Pooling | None) -> EmbeddingRecipe:
    """The recipe of a checkpoint; the user's `wanted` pooling goes before the checkpoint's.

    Raises:
        CheckpointError: neither says it, or the checkpoint's modules cannot be expressed.
    """
    if not (folder / "modules.json").is_file():
        if wanted is None:
            raise CheckpointError(
                folder, "does not say how to pool (no modules.json)", "use --pooling cls, mean or pooler"
            )
        return EmbeddingRecipe(wanted, False)
    modules = {
        str(entry.get("type", "")).rsplit(".", 1)[-1]: entry for entry in read_json_list(folder / "modules.json")
    }
    foreign = sorted(set(modules) - set(_KNOWN))
    if foreign:
        raise CheckpointError(
            folder, f"modules.json asks for {', '.join(foreign)}", "only pooling and scaling are known"
        )
    pooling = wanted or _pooling(folder, str(modules.get("Pooling", {}).get("path", "1_Pooling")))
    return EmbeddingRecipe(pooling, "Normalize" in modules, _longest(folder))


def _pooling(folder: Path, path: str) -> Pooling:
    config = read_json(folder / path / "config.json")
    chosen = [name for name, value in config.items() if name.startswith("pooling_mode_") and value is True]
    if len(chosen) != 1 or chosen[0] not in _MODES:
        problem = f"{path}/config.json asks for {' and '.join(chosen) or 'no pooling'}"
        raise CheckpointError(folder, problem, _REMEDY)
    return _MODES[chosen[0]]


def _longest(folder: Path) -> int | None:
    path = folder / "sentence_bert_config.json"
    longest = read_json(path).get("max_seq_length") if path.is_file() else None
    return longest if isinstance(longest, int) else None
