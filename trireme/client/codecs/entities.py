"""token-classification: the entities of a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from trireme.client.codecs.base import Answer, RowCodec


@dataclass(frozen=True)
class Entity:
    """A labelled stretch of the text as it was sent: `text[start:end]`, counted in characters."""

    start: int
    end: int
    text: str
    label: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Entities(Answer):
    """A text's entities in the order of the text; none overlaps another."""

    entities: tuple[Entity, ...]


class EntitiesCodec(RowCodec[Entities]):
    """`entities` STRING [1], a JSON list."""

    task_name = "token-classification"
    method = "recognize_entities"

    def row(self, outputs: Mapping[str, Any], *, release: int | None, truncated_chars: int) -> Entities:
        """See the base class."""
        return Entities(
            entities=tuple(Entity(**each) for each in orjson.loads(outputs["entities"][0])),
            release=release,
            truncated_chars=truncated_chars,
        )
