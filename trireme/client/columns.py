"""What users give, as the columns that pipelines take."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from text_runtime.tensors import SCHEMA, TEXT, TEXT_PAIR
from trireme.client.exchange import Columns
from trireme.errors import InputError

Schema = str | Sequence[Any] | Mapping[str, Any]
"""A name, a list of names and nodes, or a node, whose values are schemas: `["时间", {"公司": ["成立时间"]}]`."""


def text_columns(texts: Sequence[str]) -> Columns:
    """One text a row.

    Raises:
        TypeError: not a list of texts.
        InputError: a text cannot be written as UTF-8.
    """
    return {TEXT.name: checked(TEXT.name, texts)}


def pair_columns(texts: Sequence[str], pairs: Sequence[str]) -> Columns:
    """Two texts a row; both columns have one length. Raises as `text_columns` does."""
    return {TEXT.name: checked(TEXT.name, texts), TEXT_PAIR.name: checked(TEXT_PAIR.name, pairs)}


def schema_columns(texts: Sequence[str], schema: Schema) -> Columns:
    """One text a row, and one schema for all. Raises as `text_columns` does."""
    rows = checked(TEXT.name, texts)
    return {TEXT.name: rows, SCHEMA.name: [orjson.dumps(schema).decode()] * len(rows)}


def checked(name: str, texts: Sequence[str]) -> list[str]:
    """The texts of a column. A single text would otherwise pass for a list of its characters."""
    rows = [] if isinstance(texts, str) else list(texts)
    if isinstance(texts, str) or not all(isinstance(text, str) for text in rows):
        raise TypeError(f"input '{name}' takes a list of texts")
    for row, text in enumerate(rows):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            problem = f"row {row} is no valid text ({error.reason} at {error.start})"
            raise InputError(name, problem, "decode it properly first") from error
    return rows
