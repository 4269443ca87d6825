"""Dynamic checkpoints that PaddleNLP's own `save_pretrained` wrote."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from converters import paddle_runtime
from converters.onnx_conversion import convert
from converters.paddle_layers import LayerSpec, exportable, served_layer
from converters.sources import checkpoint
from converters.sources.architectures import ARCHITECTURES, Architecture, Head
from converters.sources.base import Array, Pooling, SourceOptions, TableRows
from converters.sources.labels import labels_of
from converters.sources.tokenized import TokenizedSource
from converters.tokenizers.paddlenlp import PaddleNlpTokenizer
from text_runtime.facts import SourceFacts
from trireme.errors import CheckpointError, UnsupportedError

_PROBE_TOKENS = 4
_PRETRAINING = ("cls.", "lm_head.", "predictions.", "generator_predictions.", "generator_lm_head", "sop_classifier.")
"""Weights of the heads that encoders are pretrained with."""


_POOLINGS = (Pooling.CLS, Pooling.MEAN, Pooling.POOLER)


def open_paddlenlp(folder: Path, task_name: str, options: SourceOptions) -> "PaddleNlpModel":
    """Open a checkpoint that PaddleNLP's `save_pretrained` wrote.

    Raises:
        CheckpointError: it is missing, foreign, broken, or does not fit the task.
        UnsupportedError: its architecture is not a registered one.
    """
    if options.prompt is not None:
        raise CheckpointError(folder, "has no prompts", "leave --prompt away")
    return PaddleNlpModel(_read(folder, task_name, options))


@dataclass(frozen=True)
class _Checkpoint:
    folder: Path
    architecture: Architecture
    config: dict[str, Any]
    weights: list[Path]
    pooling: Pooling | None


def _read(folder: Path, task_name: str, options: SourceOptions) -> _Checkpoint:
    """All that can be known and refused without loading anything heavy."""
    config = checkpoint.read_json(folder / "config.json")
    weights = checkpoint.checked_weights(folder)
    architecture = _architecture(folder, config)
    if task_name not in architecture.head.tasks:
        problem = f"{architecture.name} does not serve {task_name}"
        raise CheckpointError(folder, problem, f"use --task {' or '.join(architecture.head.tasks)}")
    pooling = _pooling(folder, options.pooling) if architecture.head is Head.HIDDEN else None
    return _Checkpoint(folder, architecture, config, weights, pooling)


def _pooling(folder: Path, wanted: Pooling | None) -> Pooling:
    choices = ", ".join(pooling.value for pooling in _POOLINGS)
    if wanted is None:
        raise CheckpointError(folder, "does not say how to pool", f"use --pooling with one of: {choices}")
    if wanted not in _POOLINGS:
        raise UnsupportedError("--pooling of a PaddleNLP checkpoint", wanted.value, [p.value for p in _POOLINGS])
    return wanted


def _architecture(folder: Path, config: dict[str, Any]) -> Architecture:
    names = config.get("architectures") or [config.get("init_class")]
    if not names or not isinstance(names[0], str):
        raise CheckpointError(folder, "config.json names no architecture", "save the model with its task head again")
    if names[0] not in ARCHITECTURES:
        raise UnsupportedError("architecture", names[0], list(ARCHITECTURES))
    return ARCHITECTURES[names[0]]


class PaddleNlpModel(TokenizedSource):
    """A loaded model and tokenizer. See `SourceModel`."""

    is_normalized = False

    def __init__(self, found: _Checkpoint) -> None:
        folder, architecture = found.folder, found.architecture
        self._family = architecture.family
        self.graph_inputs = architecture.inputs
        hashes = checkpoint.hashes_of(folder, *found.weights)
        self.facts = SourceFacts("paddlenlp", folder.name, architecture.name, hashes)
        with tempfile.TemporaryDirectory(prefix="trireme-source-") as scratch:
            copy = checkpoint.copy_of(folder, Path(scratch), *found.weights)
            model, missing, unused = paddle_runtime.load_model(copy, folder, architecture.name)
            _require_weights(found, missing, unused)
            super().__init__(PaddleNlpTokenizer(paddle_runtime.load_tokenizer(copy, folder), folder))
        pad = self.traits.pad_token_id if model.config.pad_token_id is None else int(model.config.pad_token_id)
        self.traits = replace(self.traits, longest=_longest(found, self.traits.longest, pad))
        self._model = model
        self.layer = served_layer(model, LayerSpec(architecture, found.pooling))
        self.tables = _tables(model, architecture)
        self.width = self._probe(folder)
        self.labels = labels_of(folder, found.config, self.width, architecture.head)

    def forward(self, feeds: Mapping[str, Array]) -> Array:
        """See `SourceModel`."""
        whole = {"attention_mask": np.ones_like(feeds["input_ids"]), **feeds}
        return paddle_runtime.forward(self.layer, [whole[name] for name in self.graph_inputs])

    def write_static(self, stem: Path) -> None:
        """See `SourceModel`."""
        paddle_runtime.write_static(self.layer, self.graph_inputs, stem, self._family.is_traced)

    def write_onnx(self, path: Path) -> None:
        """See `SourceModel`."""
        with exportable(self._model), tempfile.TemporaryDirectory(prefix="trireme-static-") as scratch:
            stem = Path(scratch) / "static"
            self.write_static(stem)
            convert(stem.with_suffix(".json"), path)

    def _probe(self, folder: Path) -> int:
        """The width of the output, by asking the model."""
        row = np.full((1, _PROBE_TOKENS), (self.traits.pad_token_id + 1) % self.tables.tokens, dtype=np.int64)
        try:
            return int(self.forward({"input_ids": row, "token_type_ids": np.zeros_like(row)}).shape[-1])
        except Exception as error:  # Paddle raises whatever its native code threw
            problem = f"its model does not run ({paddle_runtime.gist(error)})"
            raise CheckpointError(folder, problem, "mend config.json") from error


def _tables(model: Any, architecture: Architecture) -> TableRows:
    tables = [layer.weight for name, layer in model.named_sublayers() if name.endswith("word_embeddings")]
    has_types = "token_type_ids" in architecture.inputs
    return TableRows(int(tables[0].shape[0]), int(model.config.type_vocab_size) if has_types else 0)


def _require_weights(found: _Checkpoint, missing: Sequence[str], unused: Sequence[str]) -> None:
    """Refuse random weights, and weights that the model has no place for.

    A pooler that nothing reads may be missing, and tables of positions are computed. An encoder may have been saved
    with the head that it was pretrained with.
    """
    foreign = [name for name in unused if not (found.pooling and name.startswith(_PRETRAINING))]
    checkpoint.require_used(found.folder, found.architecture.name, foreign)
    needs_pooler = found.architecture.has_pooled_head or found.pooling is Pooling.POOLER
    lost = [name for name in missing if "position_ids" not in name and (needs_pooler or "pooler." not in name)]
    checkpoint.require_complete(found.folder, found.architecture.name, lost)


def _longest(found: _Checkpoint, allowed: int, pad_token_id: int) -> int:
    lost = found.architecture.family.lost_positions
    positions = int(found.config.get("max_position_embeddings", 512)) - (pad_token_id + 1 if lost is None else lost)
    return min(positions, allowed)
