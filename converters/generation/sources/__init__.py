"""The kinds of checkpoint that a causal language model comes in."""

from pathlib import Path

from converters.generation.sources.base import CausalSource
from trireme.errors import CheckpointError

_GGUF = ".gguf"


def open_causal_source(checkpoint: Path, python: Path | None = None) -> CausalSource:
    """Open a GGUF file, or a folder that holds one.

    Args:
        checkpoint: what to open.
        python: the interpreter whose library loads a Hugging Face folder.

    Raises:
        CheckpointError: it is no causal language model that can be opened.
        MissingLibraryError: a library is not installed that it takes.
    """
    from converters.generation.sources.gguf import open_gguf

    if not checkpoint.exists():
        raise CheckpointError(checkpoint, "there is no such file or folder", "name a checkpoint")
    files = sorted(checkpoint.glob(f"*{_GGUF}")) if checkpoint.is_dir() else [checkpoint]
    if len(files) > 1:
        raise CheckpointError(checkpoint, f"holds {len(files)} GGUF files", "name one of them")
    if files:
        return open_gguf(files[0])
    raise CheckpointError(checkpoint, "holds no model that is known", "name a GGUF file")
