"""Recorded tags of tokens become the entities that their scheme means; for BIO and plain tags those of transformers."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import pytest

from tests.parity.answers import Entity, are_close, trimmed
from tests.parity.cases import RightValues, recorded_tags
from text_runtime.tasks import Labels, task
from text_runtime.tensors import SPANS, TEXT

_ALL = recorded_tags()
_BIO = [case for case in _ALL if not case.name.startswith("scheme_")]
_SCHEMES = [case for case in _ALL if case.name.startswith("scheme_")]
_STRATEGIES = {"first": "first", "token": "simple"}
_TAG = re.compile(r"(?:([BIMELSU])[-_](\w+))|(?:(\w+)[-_]([BIMELSU]))")


def _name(case: RightValues) -> str:
    return case.name


def decoded(case: RightValues, row: int, aggregation: str) -> list[Entity]:
    """What the task makes of the tags of one text: every token has its recorded tag with its recorded score."""
    names, tokens = case.content["names"], case.content["tokens"][row]
    logits = np.zeros((1, len(tokens), len(names)), dtype=np.float32)
    for index, (_, _, _, tag, score) in enumerate(tokens):
        logits[0, index] = np.log((1 - score) / (len(names) - 1))
        logits[0, index, names.index(tag)] = np.log(score)
    spans = np.array([token[:3] for token in tokens], dtype=np.int32).reshape(1, -1, 3)
    text = np.array([[case.texts[row].encode()]], dtype=np.object_)
    decoder = task("token-classification").decoder(Labels(tuple(names), aggregation=aggregation), dict)
    (answer,) = decoder([{TEXT.name: text, SPANS.name: spans, "logits": logits}])
    return [(one["start"], one["end"], one["label"], one["score"]) for one in orjson.loads(answer["entities"][0, 0])]


def _as_transformers(case: RightValues, row: int, strategy: str) -> list[Entity]:
    return list(trimmed(case.texts[row], case.content["pipelines"][strategy][row]))


@pytest.mark.parametrize("aggregation", _STRATEGIES)
@pytest.mark.parametrize("case", _BIO, ids=_name)
def test_entities_are_those_of_transformers(case: RightValues, aggregation: str) -> None:
    for row, text in enumerate(case.texts):
        ours, theirs = decoded(case, row, aggregation), _as_transformers(case, row, _STRATEGIES[aggregation])
        assert are_close(ours, theirs), (text, ours, theirs)


@pytest.mark.parametrize("case", _SCHEMES, ids=_name)
def test_entities_are_what_the_scheme_means(case: RightValues) -> None:
    for row, text in enumerate(case.texts):
        ours, meant = decoded(case, row, "first"), list(trimmed(text, _meant(case.content["tokens"][row])))
        assert are_close(ours, meant), (text, ours, meant)


def _meant(tokens: list[list[Any]]) -> Iterator[Entity]:
    """Entities read off the first token of each word: B, S and U begin one, E, L, S and U end one, as does a change of
    the label; a tag without a position is none here."""
    open_words: list[Any] = []
    for start, end, position, label, score in [*_words(tokens), (0, 0, "O", "", 0.0)]:
        if open_words and (position in "OBSU" or label != open_words[0][2]):
            yield _entity(open_words)
            open_words = []
        if position != "O":
            open_words.append((start, end, label, score))
        if position in "ELSU":
            yield _entity(open_words)
            open_words = []


def _words(tokens: list[list[Any]]) -> Iterator[tuple[int, int, str, str, float]]:
    numbers = list(dict.fromkeys(token[2] for token in tokens))
    for number in numbers:
        pieces = [token for token in tokens if token[2] == number]
        found = _TAG.fullmatch(pieces[0][3])
        position, label = (found[1] or found[4], found[2] or found[3]) if found else ("O", "")
        yield min(piece[0] for piece in pieces), max(piece[1] for piece in pieces), position, label, pieces[0][4]


def _entity(words: list[Any]) -> Entity:
    score = sum(word[3] for word in words) / len(words)
    return words[0][0], words[-1][1], words[0][2], score
