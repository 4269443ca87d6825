"""The kinds of checkpoint that can be exported. A new kind is one module beside this file and one line here."""

from collections.abc import Callable
from pathlib import Path

from converters.sources import checkpoint
from converters.sources.base import Pooling, SourceModel, SourceOptions, TokenIds
from converters.sources.files import require_files
from converters.sources.huggingface import open_huggingface
from converters.sources.onnx import open_onnx
from converters.sources.paddlenlp import open_paddlenlp
from converters.sources.static import open_static
from trireme.errors import UnsupportedError

__all__ = ["Pooling", "SourceModel", "SourceOptions", "TokenIds", "open_source", "source_kinds"]

_OPENERS: dict[str, Callable[[Path, str, SourceOptions], SourceModel]] = {
    "huggingface": open_huggingface,
    "onnx": open_onnx,
    "paddlenlp": open_paddlenlp,
    "static": open_static,
}
_DEFAULTS = SourceOptions()


def source_kinds() -> list[str]:
    """Names of all registered kinds of source, sorted."""
    return sorted(_OPENERS)


def open_source(folder: Path, task_name: str, options: SourceOptions = _DEFAULTS) -> SourceModel:
    """Open a checkpoint for a task; its kind is found by looking, or is the one that `options` name.

    Raises:
        CheckpointError: it is missing, foreign, broken, or does not fit the task.
        InterpreterError: it is loaded by Hugging Face's own library, and there is no interpreter that has it.
        UnsupportedError: the kind or the architecture is not a registered one.
    """
    checkpoint.require_folder(folder)
    require_files(folder)
    kind = options.kind or checkpoint.kind_of(folder)
    if kind not in _OPENERS:
        raise UnsupportedError("source", kind, source_kinds())
    return _OPENERS[kind](folder, task_name, options)
