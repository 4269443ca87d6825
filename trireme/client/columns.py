"""Holds what users give against what can be sent at all."""

from collections.abc import Mapping, Sequence

from text_runtime.tasks import Columns
from trireme.errors import InputError


def checked(columns: Columns) -> Columns:
    """The same columns, each a list of texts that UTF-8 can carry.

    Raises:
        TypeError: a column is no list of texts.
        InputError: a text cannot be written as UTF-8.
    """
    return {name: _checked(name, texts) for name, texts in columns.items()}


def require_texts(inputs: Mapping[str, str | bool]) -> None:
    """Refuse what UTF-8 cannot carry among the inputs of a request that is answered in pieces.

    Raises:
        InputError: a text cannot be written as UTF-8.
    """
    for name, value in inputs.items():
        _require_utf8(name, "", str(value))


def _checked(name: str, texts: Sequence[str]) -> list[str]:
    """The texts of a column. A single text would otherwise pass for a list of its characters."""
    rows = [] if isinstance(texts, str) else list(texts)
    if isinstance(texts, str) or not all(isinstance(text, str) for text in rows):
        raise TypeError(f"input '{name}' takes a list of texts")
    for row, text in enumerate(rows):
        _require_utf8(name, f"row {row} ", text)
    return rows


def _require_utf8(name: str, place: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"{place}is no valid text ({error.reason} at {error.start})"
        raise InputError(name, problem, "decode it properly first") from error
