"""Graphs that were exported already: `.json` (Paddle 3) or `.pdmodel` (before), `.pdiparams` and a tokenizer beside.

Paddle Inference's output of the graph itself is the truth. What the graph does not say (labels, the longest row) comes
from a `config.json` beside it where there is one, or from asking the graph.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from converters import paddle_runtime
from converters.onnx_conversion import convert
from converters.paddle_graph import PaddleGraph
from converters.sources import checkpoint
from converters.sources.architectures import Head, head_for
from converters.sources.base import Array, SourceOptions
from converters.sources.labels import labels_of
from converters.sources.static_outputs import PROBE_ROWS, PROBE_TOKENS, combine, combine_in_graph, form_of
from converters.sources.tokenized import TokenizedSource
from converters.tokenizers.paddlenlp import PaddleNlpTokenizer
from text_runtime.manifest import SourceFacts
from trireme.errors import CheckpointError

_INPUTS = ("input_ids", "token_type_ids", "attention_mask")
_LONGEST = 512
"""Where neither tokenizer nor config says how long a row may be: the positions of nearly every BERT-like model."""
_UNLIMITED = 1 << 20
"""A tokenizer that knows no limit says 10^30."""


def open_static(folder: Path, task_name: str, options: SourceOptions) -> "StaticModel":
    """Open a folder with one exported graph.

    Raises:
        CheckpointError: it has none or several, or one that does not fit the task or lacks a tokenizer.
    """
    return StaticModel(_graph_of(folder), head_for(task_name), options)


def _graph_of(folder: Path) -> Path:
    weights = sorted(folder.glob("*.pdiparams"))
    if len(weights) != 1:
        found = ", ".join(path.name for path in weights) or "no .pdiparams"
        raise CheckpointError(folder, f"holds {found} where one graph's is wanted", "give a folder with one graph")
    for suffix in (".json", ".pdmodel"):
        if weights[0].with_suffix(suffix).is_file():
            return weights[0].with_suffix(suffix)
    stem = weights[0].stem
    raise CheckpointError(folder, f"has {stem}.pdiparams without {stem}.json or {stem}.pdmodel", "add the graph")


class StaticModel(TokenizedSource):
    """A loaded graph and its tokenizer. See `SourceModel`."""

    is_normalized = False
    layer: Any = None

    def __init__(self, path: Path, head: Head, options: SourceOptions) -> None:
        folder = path.parent
        self._path = path
        config = checkpoint.read_json(folder / "config.json") if (folder / "config.json").is_file() else {}
        architecture = str((config.get("architectures") or [path.name])[0])
        self.facts = SourceFacts("static", folder.name, architecture, checkpoint.hashes_of(folder))
        self._graph = PaddleGraph(path)
        self.graph_inputs = self._graph.inputs
        _require_inputs(folder, self.graph_inputs)
        with tempfile.TemporaryDirectory(prefix="trireme-source-") as scratch:
            copy = checkpoint.copy_of(folder, Path(scratch), without=("*.pdiparams", path.name))
            super().__init__(PaddleNlpTokenizer(paddle_runtime.load_tokenizer(copy, folder)))
        self.pad_token_id = self._tokenizer.pad_token_id
        self._form = form_of(folder, head, self._probe((PROBE_ROWS, PROBE_TOKENS)), options.pooling)
        self._served = self.forward(_feeds((1, PROBE_TOKENS), self.pad_token_id)).shape
        self.width = int(self._served[-1])
        self.labels = labels_of(folder, config, self.width, head)
        self.longest = self._longest(config.get("max_position_embeddings"))

    def forward(self, feeds: Mapping[str, Array]) -> Array:
        """See `SourceModel`."""
        is_token = feeds["input_ids"] != self.pad_token_id
        outputs = self._graph({"attention_mask": is_token.astype(np.int64), **feeds})
        return combine(self._form, outputs, is_token)

    def write_static(self, stem: Path) -> None:
        """See `SourceModel`."""
        problem = "what it answers is combined after the graph, which is possible in ONNX only"
        raise CheckpointError(self._path.parent, problem, "choose another --engine, or export the dynamic checkpoint")

    def write_onnx(self, path: Path) -> None:
        """See `SourceModel`."""
        convert(self._path, path)
        combine_in_graph(path, self._form, self._served, self.pad_token_id)

    def _probe(self, shape: tuple[int, int]) -> list[Array]:
        return self._graph(_feeds(shape, self.pad_token_id))

    def _longest(self, positions: int | None) -> int:
        """The longest row that the graph takes; one longer than its table of positions is refused by Paddle."""
        known = [limit for limit in (positions, self._tokenizer.longest) if limit is not None and limit < _UNLIMITED]
        wanted = min(known, default=_LONGEST)
        if self._takes(wanted):
            return wanted
        fits, fails = PROBE_TOKENS, wanted
        while fails - fits > 1:
            middle = (fits + fails) // 2
            fits, fails = (middle, fails) if self._takes(middle) else (fits, middle)
        return fits

    def _takes(self, tokens: int) -> bool:
        try:
            self._probe((1, tokens))
        except (ValueError, RuntimeError, IndexError):
            return False
        return True


def _feeds(shape: tuple[int, int], pad_token_id: int) -> dict[str, Array]:
    """Rows without padding, of any token that every vocabulary has."""
    ids = np.full(shape, pad_token_id + 1, dtype=np.int64)
    return {"input_ids": ids, "token_type_ids": np.zeros_like(ids), "attention_mask": np.ones_like(ids)}


def _require_inputs(folder: Path, inputs: Sequence[str]) -> None:
    if "input_ids" not in inputs or not set(inputs) <= set(_INPUTS):
        problem = f"its graph's inputs are {', '.join(inputs)}; known are {', '.join(_INPUTS)}"
        raise CheckpointError(folder, problem, "export it again with inputs of these names")
