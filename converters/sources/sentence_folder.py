"""What sentence-transformers wrote beside an ONNX graph of an encoder: pooling, scaling, prompts, the longest row.

A folder with weights is read by sentence-transformers itself (`converters.huggingface`). Beside a graph only the usual
recipe is understood, Transformer, Pooling and Normalize: everything else is refused.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from converters.sources.base import Pooling, SourceOptions
from converters.sources.checkpoint import read_json, read_json_list
from text_runtime.tokenizers.preparation import TextPreparation
from trireme.errors import CheckpointError

_MODES = {
    "pooling_mode_cls_token": Pooling.CLS,
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_max_tokens": Pooling.MAX,
}
_ORDERS = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
_REMEDY = "give the folder with its weights, which sentence-transformers itself reads"


@dataclass(frozen=True)
class SentenceRecipe:
    """Pooling, whether vectors are scaled to length 1, the longest row that is read, and what happens to a text."""

    pooling: Pooling | None = None
    is_normalized: bool = False
    longest: int | None = None
    preparation: TextPreparation = TextPreparation()


def recipe_of(folder: Path, options: SourceOptions) -> SentenceRecipe:
    """The recipe of a folder; the user's pooling goes before the folder's.

    Raises:
        CheckpointError: the folder's modules, pooling or prompts cannot be expressed behind a graph.
    """
    if not (folder / "modules.json").is_file():
        if options.prompt is not None:
            raise CheckpointError(folder, "has no prompts (no modules.json)", "leave --prompt away")
        return SentenceRecipe(options.pooling)
    entries = read_json_list(folder / "modules.json")
    kinds = [str(entry.get("type", "")).rsplit(".", 1)[-1] for entry in entries]
    if kinds not in _ORDERS:
        raise CheckpointError(folder, f"modules.json asks for {', '.join(kinds)} behind an ONNX graph", _REMEDY)
    pooling = read_json(folder / str(entries[1].get("path", "1_Pooling")) / "config.json")
    settings = _settings(folder, "sentence_bert_config.json")
    limit = settings.get("max_seq_length")
    return SentenceRecipe(
        options.pooling or _pooling(folder, pooling),
        "Normalize" in kinds,
        limit if isinstance(limit, int) and not isinstance(limit, bool) else None,
        _preparation(folder, options.prompt, settings, pooling),
    )


def _pooling(folder: Path, config: dict[str, Any]) -> Pooling:
    chosen = [name for name, value in config.items() if name.startswith("pooling_mode_") and value is True]
    if len(chosen) != 1 or chosen[0] not in _MODES:
        problem = f"its Pooling asks for {' and '.join(chosen) or 'no pooling'} behind an ONNX graph"
        raise CheckpointError(folder, problem, _REMEDY)
    return _MODES[chosen[0]]


def _preparation(
    folder: Path, wanted: str | None, settings: dict[str, Any], pooling: dict[str, Any]
) -> TextPreparation:
    known = _settings(folder, "config_sentence_transformers.json")
    prompts, name = known.get("prompts") or {}, wanted or known.get("default_prompt_name")
    if name is not None and name not in prompts:
        raise CheckpointError(folder, f"has no prompt '{name}'", "name one of config_sentence_transformers.json's")
    prompt = str(prompts[name]) if name is not None else ""
    if prompt and pooling.get("include_prompt") is False:
        raise CheckpointError(folder, "leaves its prompt out of the pooling", _REMEDY)
    return TextPreparation(prompt, prompts, is_stripped=True, is_lowered=bool(settings.get("do_lower_case")))


def _settings(folder: Path, name: str) -> dict[str, Any]:
    return read_json(folder / name) if (folder / name).is_file() else {}
