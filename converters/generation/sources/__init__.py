"""The kinds of checkpoint that a causal language model comes in."""

from pathlib import Path

from converters.generation.sources.base import CausalSource
from converters.sources import checkpoint as folders
from trireme.errors import CheckpointError

_GGUF = ".gguf"


def open_causal_source(checkpoint: Path, python: Path | None = None) -> CausalSource:
    """Open a GGUF file, a folder that holds one, or what PaddleNLP's or Hugging Face's `save_pretrained` wrote.

    Args:
        checkpoint: what to open.
        python: the interpreter whose library loads a Hugging Face folder.

    Raises:
        CheckpointError: it is no causal language model that can be opened.
        InterpreterError: there is no interpreter that has Hugging Face's library.
        MissingLibraryError: a library is not installed that it takes.
    """
    if not checkpoint.exists():
        raise CheckpointError(checkpoint, "there is no such file or folder", "name a checkpoint")
    files = sorted(checkpoint.glob(f"*{_GGUF}")) if checkpoint.is_dir() else [checkpoint]
    if len(files) > 1:
        raise CheckpointError(checkpoint, f"holds {len(files)} GGUF files", "name one of them")
    if files:
        from converters.generation.sources.gguf import open_gguf

        return open_gguf(files[0])
    return _open_folder(checkpoint, python)


def _open_folder(folder: Path, python: Path | None) -> CausalSource:
    kind = folders.kind_of(folder)
    if kind == "paddlenlp":
        from converters.generation.sources.paddlenlp import PaddleNlpCausalSource

        return PaddleNlpCausalSource(folder, python)
    if kind == "huggingface":
        from converters.generation.sources.huggingface import HuggingFaceCausalSource

        return HuggingFaceCausalSource(folder, python)
    remedy = "give a GGUF file, or what PaddleNLP's or Hugging Face's save_pretrained wrote"
    raise CheckpointError(folder, f"holds a graph ({kind}), which cannot be asked token by token", remedy)
