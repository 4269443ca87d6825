"""The kinds of checkpoint that can be exported. A new kind is one module beside this file and one line here."""

from pathlib import Path

from converters.sources.base import SourceModel, TokenIds
from converters.sources.paddlenlp import open_paddlenlp

__all__ = ["SourceModel", "TokenIds", "open_source"]


def open_source(checkpoint: Path, task_name: str, pooling: str = "mean") -> SourceModel:
    """Open a checkpoint for a task; `pooling` is for embeddings.

    Raises:
        CheckpointError: it is missing, foreign, broken, or does not fit the task.
    """
    return open_paddlenlp(checkpoint, task_name, pooling)
