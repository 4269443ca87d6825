"""token-classification: the entities of each text, with their characters in the text as it was sent."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import orjson

from text_runtime.tasks.agreement import f1
from text_runtime.tasks.answers import Answer, Asked, Question
from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.columns import Array, strings
from text_runtime.tasks.judging import Judge, require, require_score
from text_runtime.tasks.scores import activate
from text_runtime.tasks.tags import Entity as Stretch
from text_runtime.tasks.tags import TagScheme, Word
from text_runtime.tasks.views import Cell, Tone, View
from text_runtime.tensors import SPANS, TEXT, DataType, TensorSpec
from text_runtime.tokenizers.texts import read_texts


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


class TokenClassification(Task[Entities]):
    """`entities` STRING [1]: JSON list of `start`, `end`, `text`, `label`, `score`, in the order of the text."""

    name = "token-classification"
    postprocess_inputs = (SPANS, TEXT)
    is_per_token = True

    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """See the class."""
        return (TensorSpec("entities", DataType.STRING, (1,)),)

    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Decode by the release's tags and its way to make one tag of a word's pieces."""
        return _Decoder(labels)

    def ask(
        self, texts: Sequence[str], *, key: str | None = None, timeout_s: float | None = None
    ) -> Question[list[Entities]]:
        """The entities of each text (token-classification)."""
        return Question(self.name, {TEXT.name: texts}, self.answers, key, timeout_s)

    def answer(self, row: Tensors, *, release: int | None, truncated_chars: int) -> Entities:
        """See the base class."""
        entities = tuple(Entity(**each) for each in orjson.loads(row["entities"][0]))
        return Entities(entities=entities, release=release, truncated_chars=truncated_chars)

    def agreement(self, ours: Entities, theirs: Entities) -> float | None:
        """F1 of the entities: the same characters and the same label."""
        one, other = ({(each.start, each.end, each.label) for each in found.entities} for found in (ours, theirs))
        return f1(one, other)

    def judge(self) -> Judge[Entities]:
        """Entities are stretches of the text, in order, none over another.

        That a text gets the same entities each time is not judged: where two tags of a word are nearly alike, padding
        decides.
        """
        return _Judge()

    def view(self, asked: Asked, answer: Entities) -> View:
        """The whole text, each entity in brackets with its label; and the entities by their places."""
        lines = [f"{each.start}-{each.end} {each.label} {each.score:.4f}" for each in answer.entities]
        return {"text with its entities": _marked(asked[TEXT.name], answer), "entities": "\n".join(lines) or "none"}


def _marked(text: str, answer: Entities) -> Cell:
    pieces, position = list[tuple[str, Tone]](), 0
    for each in answer.entities:
        pieces += [(text[position : each.start] + "[", Tone.PLAIN), (each.text, Tone.FOUND)]
        pieces += [(f" {each.label}", Tone.NAME), ("]", Tone.PLAIN)]
        position = each.end
    return [*pieces, (text[position:], Tone.PLAIN)]


class _Judge(Judge[Entities]):
    def __call__(self, asked: Asked, answer: Entities) -> None:
        found = answer.entities
        is_cut_out = all(asked[TEXT.name][each.start : each.end] == each.text for each in found)
        require(is_cut_out, "an entity is not the text between its offsets")
        require(all(each.text for each in found), "an entity is empty")
        require(all(one.end <= other.start for one, other in pairwise(found)), "entities overlap or are out of order")
        require_score(*(each.score for each in found))


class _Decoder:
    def __init__(self, labels: Labels) -> None:
        self._scheme = TagScheme(labels.names)
        self._aggregation = labels.aggregation

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        return [{"entities": strings([self._entities(*row) for row in _rows(request)])} for request in requests]

    def _entities(self, text: str, logits: Array, spans: Array) -> bytes:
        own = spans[:, 0] >= 0
        scores = activate(logits[own].astype(np.float64), "softmax")
        words = list(_words(scores, spans[own], self._aggregation))
        return orjson.dumps(list(_as_json(text, self._scheme.entities(words))))


def _rows(request: Tensors) -> Iterator[tuple[str, Array, Array]]:
    texts = read_texts(TEXT.name, request[TEXT.name])
    yield from zip(texts, request["logits"], request[SPANS.name], strict=True)


def _words(scores: Array, spans: Array, aggregation: str) -> Iterator[Word]:
    """Pieces of one word become one word: its first piece's scores (`first`), or the mean of them all (`mean`)."""
    if not len(spans):
        return
    is_new = np.ones(len(spans), dtype=bool)
    if aggregation != "token":
        is_new[1:] = spans[1:, 2] != spans[:-1, 2]
    bounds = np.flatnonzero(is_new).tolist()
    for start, end in zip(bounds, [*bounds[1:], len(spans)], strict=True):
        row = scores[start:end].mean(axis=0) if aggregation == "mean" else scores[start]
        tag = int(row.argmax())
        yield Word(int(spans[start:end, 0].min()), int(spans[start:end, 1].max()), tag, float(row[tag]))


def _as_json(text: str, entities: Iterable[Stretch]) -> Iterator[dict[str, object]]:
    """Entities with the characters that their tokens stand for, blanks included where a tokenizer counts them.

    Marks upon the last character belong to it, though a tokenizer that strips accents gives them to no token.
    """
    found = list(entities)
    limits = [*(entity.start for entity in found), len(text)][1:]
    for entity, limit in zip(found, limits, strict=True):
        start, end = entity.start, _end_of_marks(text, entity.end, limit)
        yield {"start": start, "end": end, "text": text[start:end], "label": entity.label, "score": entity.score}


def _end_of_marks(text: str, position: int, limit: int) -> int:
    while position < limit and unicodedata.category(text[position])[0] == "M":
        position += 1
    return position
