"""ONNX graphs as hubs and exporters leave them: `model.onnx` or `onnx/model.onnx`, and Hugging Face's tokenizer files.

The truth is that very graph in ONNX Runtime. No torch is needed: what stands beside the graph is read here, and where
reading it right would need the library that wrote it, it is refused.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from converters.onnx_graph import OnnxSession
from converters.sources import checkpoint
from converters.sources.architectures import Head, head_for
from converters.sources.base import SourceOptions
from converters.sources.exported_graph import ExportedGraph, GraphFolder
from converters.sources.sentence_folder import SentenceRecipe, recipe_of
from converters.tokenizers.huggingface import HuggingFaceTokenizer
from text_runtime.facts import SourceFacts
from trireme.errors import CheckpointError


def open_onnx(folder: Path, task_name: str, options: SourceOptions) -> "OnnxModel":
    """Open a folder with an ONNX graph and a fast tokenizer.

    Raises:
        CheckpointError: it has no such graph, one that does not fit the task, or files that say something else of it.
    """
    path = next((folder / name for name in checkpoint.ONNX_NAMES if (folder / name).is_file()), None)
    if path is None:
        raise CheckpointError(folder, f"has none of {', '.join(checkpoint.ONNX_NAMES)}", "name the graph so")
    head = head_for(task_name)
    if head is Head.SPANS:
        raise CheckpointError(folder, f"{task_name} is served from PaddleNLP's UIE", "give a UIE checkpoint or graph")
    recipe = recipe_of(folder, options) if head is Head.HIDDEN else SentenceRecipe()
    config = _config(folder)
    return OnnxModel(path, GraphFolder(folder, config, head, recipe.pooling), recipe)


class OnnxModel(ExportedGraph):
    """An ONNX graph. See `SourceModel`."""

    def __init__(self, path: Path, found: GraphFolder, recipe: SentenceRecipe) -> None:
        self._path, self._folder = path, found.folder
        architecture = str((found.config.get("architectures") or [path.name])[0])
        loaded = [path, *path.parent.glob(f"{path.name}_data"), *path.parent.glob(f"{path.name}.data")]
        self.facts = SourceFacts("onnx", found.folder.name, architecture, checkpoint.hashes_of(found.folder, *loaded))
        tokenizer = HuggingFaceTokenizer(found.folder, _pad_token_id(found.config))
        longest = min(limit for limit in (tokenizer.traits.longest, recipe.longest) if limit is not None)
        tokenizer.traits = replace(tokenizer.traits, longest=longest, preparation=recipe.preparation)
        super().__init__(found, OnnxSession(path), tokenizer)
        self.is_normalized = recipe.is_normalized

    def write_static(self, stem: Path) -> None:
        """See `SourceModel`."""
        problem = "Paddle's engine runs Paddle's graphs only"
        raise CheckpointError(self._folder, problem, "choose --engine onnxruntime or openvino")

    def write_onnx(self, path: Path) -> None:
        """See `SourceModel`."""
        import onnx

        onnx.save(onnx.load(str(self._path)), str(path))  # external data included
        self._combine_in(path)


def _config(folder: Path) -> dict[str, object]:
    for path in (folder / "config.json", folder / "onnx" / "config.json"):
        if path.is_file():
            return checkpoint.read_json(path)
    return {}


def _pad_token_id(config: Mapping[str, object]) -> int | None:
    found = config.get("pad_token_id")
    return found if isinstance(found, int) else None
