"""information-extraction: what was found for each name of a schema, and what was found about each finding."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from trireme.client.codecs.base import Answer, RowCodec

Found = Mapping[str, tuple["Span", ...]]
"""Findings by the schema's names; a name without any is left out."""


@dataclass(frozen=True)
class Span:
    """One finding: `text[start:end]` of the text as it was sent, and what was found about it.

    `start` and `end` are None for a choice that the schema's name itself offers, as in `情感[正向，负向]`.
    """

    text: str
    score: float
    start: int | None = None
    end: int | None = None
    relations: Found = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Extraction(Answer):
    """What was found in one text."""

    result: Found


class ExtractionCodec(RowCodec[Extraction]):
    """`result` STRING [1], a JSON object."""

    task_name = "information-extraction"
    method = "extract"

    def row(self, outputs: Mapping[str, Any], *, release: int | None, truncated_chars: int) -> Extraction:
        """See the base class."""
        found = _found(orjson.loads(outputs["result"][0]))
        return Extraction(result=found, release=release, truncated_chars=truncated_chars)


def _found(content: Mapping[str, Any]) -> Found:
    return {name: tuple(_span(**each) for each in spans) for name, spans in content.items()}


def _span(relations: Mapping[str, Any] | None = None, **fields: Any) -> Span:
    return Span(**fields, relations=_found(relations or {}))
