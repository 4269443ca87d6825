"""Graphs that were exported already: `.json` (Paddle 3) or `.pdmodel` (before), `.pdiparams` and a tokenizer beside.

Paddle Inference's output of the graph itself is the truth. What the graph does not say (labels, the longest row) comes
from a `config.json` beside it where there is one, or from asking the graph.
"""

import tempfile
from pathlib import Path

from converters import paddle_runtime
from converters.onnx_conversion import convert
from converters.paddle_graph import PaddleGraph
from converters.sources import checkpoint
from converters.sources.architectures import head_for
from converters.sources.base import SourceOptions
from converters.sources.exported_graph import ExportedGraph, GraphFolder
from converters.tokenizers.paddlenlp import PaddleNlpTokenizer
from text_runtime.facts import SourceFacts
from trireme.errors import CheckpointError


def open_static(folder: Path, task_name: str, options: SourceOptions) -> "StaticModel":
    """Open a folder with one exported graph.

    Raises:
        CheckpointError: it has none or several, or one that does not fit the task or lacks a tokenizer.
    """
    if options.prompt is not None:
        raise CheckpointError(folder, "has no prompts", "leave --prompt away")
    path = _graph_of(folder)
    config = checkpoint.read_json(folder / "config.json") if (folder / "config.json").is_file() else {}
    return StaticModel(path, GraphFolder(folder, config, head_for(task_name), options.pooling))


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


class StaticModel(ExportedGraph):
    """A Paddle graph. See `SourceModel`."""

    def __init__(self, path: Path, found: GraphFolder) -> None:
        self._path = path
        architecture = str((found.config.get("architectures") or [path.name])[0])
        hashes = checkpoint.hashes_of(found.folder, path, path.with_suffix(".pdiparams"))
        self.facts = SourceFacts("static", found.folder.name, architecture, hashes)
        graph = PaddleGraph(path)
        with tempfile.TemporaryDirectory(prefix="trireme-source-") as scratch:
            copy = checkpoint.copy_of(found.folder, Path(scratch))
            tokenizer = PaddleNlpTokenizer(paddle_runtime.load_tokenizer(copy, found.folder), found.folder)
        super().__init__(found, graph, tokenizer)

    def write_static(self, stem: Path) -> None:
        """See `SourceModel`."""
        problem = "what it answers is combined after the graph, which is possible in ONNX only"
        raise CheckpointError(self._path.parent, problem, "choose another --engine, or export the dynamic checkpoint")

    def write_onnx(self, path: Path) -> None:
        """See `SourceModel`."""
        convert(self._path, path)
        self._combine_in(path)
