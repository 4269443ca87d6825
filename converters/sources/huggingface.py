"""Hugging Face folders, loaded, exported and judged by Hugging Face's own library in an interpreter of its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from converters.huggingface.interpreter import find_interpreter
from converters.huggingface.process import Worker
from converters.limits import relative_difference
from converters.onnx_graph import OnnxSession
from converters.sources import checkpoint
from converters.sources.base import Array, Offsets, SourceOptions, TableRows, TokenIds, TokenizerTraits
from text_runtime.facts import SourceFacts
from text_runtime.tasks import Labels
from text_runtime.tokenizers.preparation import TextPreparation
from trireme.errors import CheckpointError

_EXPORTERS = ("torchscript", "dynamo")
"""The first is tried first: it needs less, and its graphs have LayerNormalization as one operator of opset 17."""
_CLOSE = 1e-4
_PROBE_LENGTHS = (3, 11)


def open_huggingface(folder: Path, task_name: str, options: SourceOptions) -> "HuggingFaceModel":
    """Open a folder that `transformers` or `sentence-transformers` wrote.

    Raises:
        CheckpointError: its own library refuses it, or it does not fit the task.
        InterpreterError: there is no interpreter that has the library.
    """
    if not (folder / "modules.json").is_file():
        checkpoint.read_json(folder / "config.json")
        checkpoint.checked_weights(folder)
    return HuggingFaceModel(folder, task_name, options)


class HuggingFaceModel:
    """An opened folder behind a process that speaks for its library. See `SourceModel`."""

    layer: Any = None

    def __init__(self, folder: Path, task_name: str, options: SourceOptions) -> None:
        self._folder = folder
        self._worker = Worker(find_interpreter(options.python), folder)
        pooling = options.pooling.value if options.pooling else None
        found = self._worker.call(
            "open", folder=str(folder.absolute()), task=task_name, pooling=pooling, prompt=options.prompt
        )
        self.width = int(found["width"])
        self.is_normalized = bool(found["is_normalized"])
        self.graph_inputs = tuple(found["graph_inputs"])
        self.traits = _traits(found)
        self.tables = TableRows(found["token_rows"], found["type_rows"])
        self.labels = _labels(folder, found)
        hashes = checkpoint.hashes_of(folder, *_weights(folder))
        self.facts = SourceFacts("huggingface", folder.name, found["architecture"], hashes, self._worker.versions)

    def tokenize(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> list[TokenIds]:
        """See `SourceModel`."""
        rows = self._worker.call("tokenize", texts=list(texts), pairs=_listed(pairs), max_length=max_length)
        return [TokenIds(*row) for row in zip(rows["ids"], rows["type_ids"], strict=True)]

    def token_offsets(self, texts: Sequence[str], max_length: int) -> list[Offsets]:
        """See `SourceModel`."""
        rows = self._worker.call("offsets", texts=list(texts), max_length=max_length)
        return [[None if span is None else (span[0], span[1]) for span in row] for row in rows]

    def write_tokenizer(self, path: Path) -> None:
        """See `SourceModel`."""
        self._worker.call("write_tokenizer", path=str(path.absolute()))

    def forward(self, feeds: Mapping[str, Array]) -> Array:
        """See `SourceModel`."""
        ids, types = (feeds[name].tolist() for name in ("input_ids", "token_type_ids"))
        output: Array = self._worker.call("forward", input_ids=ids, token_type_ids=types)
        return output

    def answer(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> Array | None:
        """See `SourceModel`."""
        answers: Array | None = self._worker.call(
            "answer", texts=list(texts), pairs=_listed(pairs), max_length=max_length
        )
        return answers

    def write_static(self, stem: Path) -> None:
        """See `SourceModel`."""
        problem = "Paddle's engine runs Paddle's graphs only, and a Hugging Face folder becomes ONNX"
        raise CheckpointError(self._folder, problem, "choose --engine onnxruntime or openvino")

    def write_onnx(self, path: Path) -> None:
        """See `SourceModel`. The first of torch's two exporters whose graph answers as the model does is taken."""
        refusals = []
        for exporter in _EXPORTERS:
            try:
                self._worker.call("write_onnx", path=str(path.absolute()), exporter=exporter)
            except CheckpointError as error:
                refusals.append(error)
                continue
            if self._is_close(path):
                return
            problem = f"the graph of torch's {exporter} exporter answers otherwise than the model"
            refusals.append(CheckpointError(self._folder, problem, "try another version of torch with --python"))
        raise refusals[0]

    def close(self) -> None:
        """End the process behind it."""
        self._worker.close()

    def _is_close(self, path: Path) -> bool:
        """Whether graph and model agree on rows of lengths and counts that the exporter has not seen."""
        try:
            session = OnnxSession(path)
        except CheckpointError:
            return False
        for tokens in _PROBE_LENGTHS:
            ids = (np.arange(3 * tokens).reshape(3, tokens) * 7 + self.traits.pad_token_id + 1) % self.tables.tokens
            feeds = {"input_ids": ids, "token_type_ids": np.zeros_like(ids), "attention_mask": np.ones_like(ids)}
            wanted = self.forward(feeds)
            try:
                found = session(feeds)[0]
            except RuntimeError:
                return False
            if found.shape != wanted.shape or relative_difference(found, wanted) > _CLOSE:
                return False
        return True


def _listed(pairs: Sequence[str] | None) -> list[str] | None:
    return None if pairs is None else list(pairs)


def _weights(folder: Path) -> list[Path]:
    """What was loaded, for the manifest: of a sentence-transformers folder the weights of every module."""
    if not (folder / "modules.json").is_file():
        return checkpoint.weights_of(folder)
    names = (*checkpoint.WEIGHTS, f"*/{checkpoint.SAFETENSORS}", f"*/{checkpoint.PICKLED}")
    return sorted(path for name in names for path in folder.glob(name))


def _traits(found: Mapping[str, Any]) -> TokenizerTraits:
    names = ("prompt", "prompts", "prompt_tokens", "is_stripped", "is_lowered")
    return TokenizerTraits(
        pad_token_id=found["pad_token_id"],
        longest=found["longest"],
        truncation_side=found["truncation_side"],
        special_tokens=tuple(found["special_tokens"]),
        highest_token=(found["highest_token"][0], found["highest_token"][1]),
        preparation=TextPreparation(**{name: found[name] for name in names}),
    )


def _labels(folder: Path, found: Mapping[str, Any]) -> Labels:
    names = found["labels"]
    if any(not isinstance(name, str) for name in names):
        lost = [str(index) for index, name in enumerate(names) if not isinstance(name, str)]
        raise CheckpointError(folder, f"id2label has no word for {', '.join(lost)}", "give every output its label")
    try:
        return Labels(tuple(names), found["activation"])
    except ValueError as error:
        raise CheckpointError(folder, f"id2label cannot be used ({error})", "mend config.json") from error
