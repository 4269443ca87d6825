"""Dynamic checkpoints that PaddleNLP loads: its own, and Hugging Face's safetensors in its architectures."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from converters import paddle_runtime
from converters.onnx_conversion import convert
from converters.paddle_layers import LayerSpec, exportable, served_layer
from converters.sources import checkpoint
from converters.sources.architectures import ARCHITECTURES, Architecture, Head
from converters.sources.base import Array, Pooling, SourceOptions, SourceTokenizer
from converters.sources.labels import labels_of
from converters.sources.pooling import EmbeddingRecipe, recipe_of
from converters.sources.tokenized import TokenizedSource
from converters.tokenizers.huggingface import FILE_NAME as TOKENIZER_NAME
from converters.tokenizers.huggingface import HuggingFaceTokenizer
from converters.tokenizers.paddlenlp import PaddleNlpTokenizer
from text_runtime.manifest import SourceFacts
from trireme.errors import CheckpointError, UnsupportedError

_PROBE_TOKENS = 4


def open_paddlenlp(folder: Path, task_name: str, options: SourceOptions) -> "PaddleNlpModel":
    """Open a checkpoint that PaddleNLP's `save_pretrained` wrote.

    Raises:
        CheckpointError: it is missing, foreign, broken, or does not fit the task.
        UnsupportedError: its architecture is not a registered one.
    """
    return PaddleNlpModel(_read(folder, task_name, "paddlenlp", options))


def open_huggingface(folder: Path, task_name: str, options: SourceOptions) -> "PaddleNlpModel":
    """Open a Hugging Face folder in an architecture that PaddleNLP has, without torch.

    Raises:
        CheckpointError: it is missing, foreign, broken, or does not fit the task.
        UnsupportedError: PaddleNLP cannot read its architecture from Hugging Face's layout.
    """
    found = _read(folder, task_name, "huggingface", options)
    if not found.architecture.family.is_in_hugging_face:
        known = [name for name, entry in ARCHITECTURES.items() if entry.family.is_in_hugging_face]
        raise UnsupportedError("Hugging Face architecture", found.architecture.name, known)
    return PaddleNlpModel(found)


@dataclass(frozen=True)
class _Checkpoint:
    folder: Path
    kind: str
    architecture: Architecture
    config: dict[str, Any]
    recipe: EmbeddingRecipe | None


def _read(folder: Path, task_name: str, kind: str, options: SourceOptions) -> _Checkpoint:
    """All that can be known and refused without loading anything heavy."""
    config = checkpoint.read_json(folder / "config.json")
    for weights in checkpoint.weights_of(folder):
        if weights.suffix == ".safetensors":
            checkpoint.layout_of(weights)
    architecture = _architecture(folder, config)
    if task_name not in architecture.head.tasks:
        problem = f"{architecture.name} does not serve {task_name}"
        raise CheckpointError(folder, problem, f"use --task {' or '.join(architecture.head.tasks)}")
    recipe = recipe_of(folder, options.pooling) if architecture.head is Head.HIDDEN else None
    return _Checkpoint(folder, kind, architecture, config, recipe)


def _architecture(folder: Path, config: dict[str, Any]) -> Architecture:
    names = config.get("architectures") or [config.get("init_class")]
    if not names or not isinstance(names[0], str):
        raise CheckpointError(folder, "config.json names no architecture", "save the model with its task head again")
    if names[0] not in ARCHITECTURES:
        raise UnsupportedError("architecture", names[0], list(ARCHITECTURES))
    return ARCHITECTURES[names[0]]


class PaddleNlpModel(TokenizedSource):
    """A loaded model and tokenizer. See `SourceModel`."""

    def __init__(self, found: _Checkpoint) -> None:
        folder, architecture = found.folder, found.architecture
        self._family = architecture.family
        self.graph_inputs = architecture.inputs
        self.facts = SourceFacts(found.kind, folder.name, architecture.name, checkpoint.hashes_of(folder))
        with tempfile.TemporaryDirectory(prefix="trireme-source-") as scratch:
            copy = checkpoint.copy_of(folder, Path(scratch))
            model, missing = paddle_runtime.load_model(copy, folder, architecture.name, found.kind == "huggingface")
            _require_weights(found, missing)
            self.pad_token_id = int(model.config.pad_token_id)
            super().__init__(_tokenizer(found, copy, self.pad_token_id))
        pooling = found.recipe.pooling if found.recipe else None
        self._model = model
        self.layer = served_layer(model, LayerSpec(architecture, self.pad_token_id, pooling))
        self.is_normalized = bool(found.recipe and found.recipe.is_normalized)
        self.width = self._probe()
        self.labels = labels_of(folder, found.config, self.width, architecture.head)
        self.longest = _longest(found, self._tokenizer, self.pad_token_id)

    def forward(self, feeds: Mapping[str, Array]) -> Array:
        """See `SourceModel`."""
        return paddle_runtime.forward(self.layer, [feeds[name] for name in self.graph_inputs])

    def write_static(self, stem: Path) -> None:
        """See `SourceModel`."""
        paddle_runtime.write_static(self.layer, self.graph_inputs, stem, self._family.is_traced)

    def write_onnx(self, path: Path) -> None:
        """See `SourceModel`."""
        with exportable(self._model), tempfile.TemporaryDirectory(prefix="trireme-static-") as scratch:
            stem = Path(scratch) / "static"
            self.write_static(stem)
            convert(stem.with_suffix(".json"), path)

    def _probe(self) -> int:
        """The width of the output, by asking the model."""
        row = np.full((1, _PROBE_TOKENS), self.pad_token_id + 1, dtype=np.int64)
        return int(self.forward({"input_ids": row, "token_type_ids": np.zeros_like(row)}).shape[-1])


def _tokenizer(found: _Checkpoint, copy: Path, pad_token_id: int) -> SourceTokenizer:
    if found.kind == "huggingface" and (copy / TOKENIZER_NAME).is_file():
        return HuggingFaceTokenizer(copy, found.folder, pad_token_id)
    return PaddleNlpTokenizer(paddle_runtime.load_tokenizer(copy, found.folder))


def _require_weights(found: _Checkpoint, missing: Sequence[str]) -> None:
    """Refuse random weights. A pooler that nothing reads may be missing, and tables of positions are computed."""
    needs_pooler = found.architecture.has_pooled_head or (found.recipe and found.recipe.pooling is Pooling.POOLER)
    lost = [name for name in missing if "position_ids" not in name and (needs_pooler or "pooler." not in name)]
    if lost:
        problem = f"the weights lack {len(lost)} of {found.architecture.name}'s, {lost[0]} the first"
        raise CheckpointError(found.folder, problem, "give the checkpoint of the whole model, its head included")


def _longest(found: _Checkpoint, tokenizer: SourceTokenizer, pad_token_id: int) -> int:
    lost = found.architecture.family.lost_positions
    positions = int(found.config.get("max_position_embeddings", 512)) - (pad_token_id + 1 if lost is None else lost)
    limits = [positions, tokenizer.longest, found.recipe.longest if found.recipe else None]
    return min(limit for limit in limits if limit is not None)
