"""PaddleNLP's dynamic checkpoints: the folder that `save_pretrained` writes."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from converters import paddle_runtime
from converters.heads import with_head
from converters.sources import checkpoint
from converters.sources.architectures import ARCHITECTURES, Architecture
from converters.sources.base import Array, TokenIds
from converters.tokenizers.wordpiece import write_wordpiece
from text_runtime.manifest import SourceFacts
from text_runtime.tasks import Labels, task
from trireme.errors import CheckpointError, UnsupportedError


def open_paddlenlp(folder: Path, task_name: str, pooling: str = "mean") -> "PaddleNlpModel":
    """Open a PaddleNLP checkpoint for a task.

    Raises:
        CheckpointError: it is missing, foreign, broken, or does not fit the task.
        UnsupportedError: its architecture is not a registered one.
    """
    checkpoint.require_folder(folder)
    config = checkpoint.read_json(folder / "config.json")
    checkpoint.weights_of(folder)
    architecture = _architecture(folder, config)
    if task_name not in architecture.tasks:
        remedy = f"use --task {' or '.join(architecture.tasks)}"
        raise CheckpointError(folder, f"its head, {architecture.name}, does not serve {task_name}", remedy)
    return PaddleNlpModel(folder, architecture, config, task_name, pooling)


def _architecture(folder: Path, config: dict[str, Any]) -> Architecture:
    names = config.get("architectures") or [config.get("init_class")]
    if not names or not isinstance(names[0], str):
        raise CheckpointError(folder, "config.json names no architecture", "save the model with its task head again")
    if names[0] not in ARCHITECTURES:
        raise UnsupportedError("architecture", names[0], list(ARCHITECTURES))
    return ARCHITECTURES[names[0]]


class PaddleNlpModel:
    """A loaded PaddleNLP model and tokenizer. See `SourceModel`."""

    def __init__(
        self, folder: Path, architecture: Architecture, config: dict[str, Any], task_name: str, pooling: str
    ) -> None:
        self.graph_inputs = architecture.inputs
        self.facts = SourceFacts("paddlenlp", folder.name, architecture.name, checkpoint.hashes_of(folder))
        with tempfile.TemporaryDirectory(prefix="trireme-source-") as scratch:
            copy = checkpoint.copy_of(folder, Path(scratch))
            bare = paddle_runtime.load_model(copy, folder, architecture.name)
            self._tokenizer = paddle_runtime.load_tokenizer(copy, folder)
        self.labels = _labels(folder, config, bare) if task(task_name).has_labels else Labels(())
        self.width = len(self.labels.names) or (2 if architecture.name == "UIE" else int(config["hidden_size"]))
        self._model = with_head(bare, task_name, pooling)
        self.pad_token_id = int(self._tokenizer.pad_token_id)
        self.longest = min(int(config["max_position_embeddings"]), int(self._tokenizer.model_max_length))

    def tokenize(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> list[TokenIds]:
        """See `SourceModel`."""
        second = [None] * len(texts) if pairs is None else pairs
        rows = [
            self._tokenizer(text, pair, max_length=max_length, truncation=True, return_attention_mask=False)
            for text, pair in zip(texts, second, strict=True)
        ]
        return [TokenIds(list(row["input_ids"]), list(row["token_type_ids"])) for row in rows]

    def write_tokenizer(self, path: Path) -> None:
        """See `SourceModel`."""
        write_wordpiece(self._tokenizer, path)

    def forward(self, feeds: Mapping[str, Array]) -> Array:
        """See `SourceModel`."""
        return paddle_runtime.forward(self._model, [feeds[name] for name in self.graph_inputs])

    def write_onnx(self, path: Path) -> None:
        """See `SourceModel`."""
        paddle_runtime.write_onnx(self._model, self.graph_inputs, path)


def _labels(folder: Path, config: dict[str, Any], model: Any) -> Labels:
    words = config.get("id2label") or {}
    width = int(model.classifier.weight.shape[-1])
    if len(words) != width:
        problem = f"config.json names {len(words)} labels in id2label, the classifier has {width} outputs"
        raise CheckpointError(folder, problem, "give every output its label")
    try:
        return Labels(tuple(str(words[str(index)]) for index in range(width)))
    except (KeyError, ValueError) as error:
        raise CheckpointError(
            folder, f"id2label is not one name for each of 0 to {width - 1} ({error})", "mend it"
        ) from error
