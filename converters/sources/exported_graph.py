"""A graph that was exported already, as a source: whichever engine runs it, the truth is the graph itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from converters import onnx_graph
from converters.sources.architectures import Head
from converters.sources.base import Array, Pooling, SourceTokenizer, TableRows
from converters.sources.graph_outputs import MASKED, PROBE_ROWS, PROBE_TOKENS, combine, combine_in_graph, form_of
from converters.sources.labels import labels_of
from converters.sources.tokenized import TokenizedSource
from trireme.errors import CheckpointError

_INPUTS = ("input_ids", "token_type_ids", "position_ids", "attention_mask")
_LONGEST = 512
"""Where neither tokenizer nor config says how long a row may be: the positions of nearly every BERT-like model."""
_UNLIMITED = 1 << 20
"""A tokenizer that knows no limit says 10^30."""


class LoadedGraph(Protocol):
    """A graph in its own engine."""

    inputs: tuple[str, ...]

    def __call__(self, feeds: Mapping[str, Array]) -> list[Array]:
        """Every output, in the graph's order, for INT64 [rows, tokens] inputs.

        Raises:
            ValueError, RuntimeError, IndexError: the engine refused, for example a row longer than its positions.
        """


@dataclass(frozen=True)
class GraphFolder:
    """The folder around a graph: what it says of labels and positions, what it is to answer, and how it pools."""

    folder: Path
    config: dict[str, Any]
    head: Head
    pooling: Pooling | None = None


class ExportedGraph(TokenizedSource):
    """A loaded graph and its tokenizer. See `SourceModel`."""

    layer: Any = None
    tables = TableRows()
    is_normalized = False

    def __init__(self, found: GraphFolder, graph: LoadedGraph, tokenizer: SourceTokenizer) -> None:
        super().__init__(tokenizer)
        self._graph = graph
        _require_inputs(found.folder, graph.inputs)
        self._form = form_of(found.folder, found.head, self._first_outputs(found.folder), found.pooling)
        is_told = "attention_mask" in graph.inputs or self._form not in MASKED
        self.graph_inputs = graph.inputs if is_told else (*graph.inputs, "attention_mask")
        self._served = self.forward(self._feeds((1, PROBE_TOKENS))).shape
        self.width = int(self._served[-1])
        self.labels = labels_of(found.folder, found.config, self.width, found.head)
        self.traits = replace(self.traits, longest=self._longest(found.config.get("max_position_embeddings")))

    def forward(self, feeds: Mapping[str, Array]) -> Array:
        """See `SourceModel`."""
        whole = _without_padding(feeds["input_ids"]) | dict(feeds)
        return combine(self._form, self._graph(whole), whole["attention_mask"])

    def _combine_in(self, path: Path) -> None:
        """Give the ONNX graph at `path` the one output that is served, and learn its tables from it."""
        combine_in_graph(path, self._form, self._served)
        types = onnx_graph.table_rows(path, "token_type_ids") if "token_type_ids" in self.graph_inputs else 0
        self.tables = TableRows(onnx_graph.table_rows(path, "input_ids"), types)

    def _first_outputs(self, folder: Path) -> list[Array]:
        try:
            return self._probe((PROBE_ROWS, PROBE_TOKENS))
        except (ValueError, RuntimeError, IndexError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            problem = f"its graph does not run for {PROBE_ROWS} rows of {PROBE_TOKENS} tokens ({reason})"
            raise CheckpointError(folder, problem, "export it again with dynamic rows and tokens") from error

    def _probe(self, shape: tuple[int, int]) -> list[Array]:
        return self._graph(self._feeds(shape))

    def _feeds(self, shape: tuple[int, int]) -> dict[str, Array]:
        """Rows of any token that every vocabulary has."""
        return _without_padding(np.full(shape, self.traits.pad_token_id + 1, dtype=np.int64))

    def _longest(self, positions: Any) -> int:
        """The longest row that the graph takes; one longer than its table of positions is refused by its engine."""
        limits = (positions, self.traits.longest)
        known = [limit for limit in limits if isinstance(limit, int) and not isinstance(limit, bool)]
        wanted = min((limit for limit in known if 0 < limit < _UNLIMITED), default=_LONGEST)
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


def _without_padding(ids: Array) -> dict[str, Array]:
    """Every input that a graph may have, for rows of whole length and one type."""
    return {
        "input_ids": ids,
        "token_type_ids": np.zeros_like(ids),
        "position_ids": np.broadcast_to(np.arange(ids.shape[1], dtype=np.int64), ids.shape),
        "attention_mask": np.ones_like(ids),
    }


def _require_inputs(folder: Path, inputs: Sequence[str]) -> None:
    if "input_ids" not in inputs or not set(inputs) <= set(_INPUTS):
        problem = f"its graph's inputs are {', '.join(inputs)}; known are {', '.join(_INPUTS)}"
        raise CheckpointError(folder, problem, "export it again with inputs of these names")
