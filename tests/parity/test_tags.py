"""Tags of tokens become the entities of transformers for BIO and plain tags, and what was meant in other schemes."""

import random
from typing import Any

import numpy as np
import orjson
import pytest

from tests.parity.answers import Entity, are_close, with_marks
from tests.parity.cases import RightValues, recorded_tags
from text_runtime.tasks import Labels, task
from text_runtime.tensors import SPANS, TEXT

_ALL = recorded_tags()
_WORDPIECE = [case for case in _ALL if case.content["is_aware"]]
_STRATEGIES = {"first": "first", "token": "simple"}
_LABELS = ("PER", "LOC", "E-MAIL")
_SCHEMES = {
    "BIO": "BIIBO",
    "BIOES": "BIESO",
    "BILOU": "BILUO",
    "BMES": "BMESO",
}
"""By name: the letters of the first word of several, of those between, of the last, of a word alone, and of none."""
_SPELLINGS = {
    "B-PER": lambda position, label: f"{position}-{label}",
    "B_PER": lambda position, label: f"{position}_{label}",
    "PER-B": lambda position, label: f"{label}-{position}",
    "b-per": lambda position, label: f"{position}-{label}".lower(),
}


def _name(case: RightValues) -> str:
    return case.name


def decoded(names: list[str], tokens: list[list[Any]], text: str, aggregation: str = "first") -> list[Entity]:
    """What the task makes of tokens: `[start, end, word, tag, score]` of each."""
    logits = np.zeros((1, len(tokens), len(names)), dtype=np.float32)
    for index, (_, _, _, tag, score) in enumerate(tokens):
        logits[0, index] = np.log((1 - score) / (len(names) - 1))
        logits[0, index, names.index(tag)] = np.log(score)
    spans = np.array([token[:3] for token in tokens], dtype=np.int32).reshape(1, -1, 3)
    texts = np.array([[text.encode()]], dtype=np.object_)
    decoder = task("token-classification").decoder(Labels(tuple(names), aggregation=aggregation), dict)
    (answer,) = decoder([{TEXT.name: texts, SPANS.name: spans, "logits": logits}])
    return [(one["start"], one["end"], one["label"], one["score"]) for one in orjson.loads(answer["entities"][0, 0])]


def _require_transformers(case: RightValues, aggregation: str) -> None:
    for row, text in enumerate(case.texts):
        ours = decoded(case.content["names"], case.content["tokens"][row], text, aggregation)
        theirs = list(with_marks(text, case.content["pipelines"][_STRATEGIES[aggregation]][row]))
        assert are_close(ours, theirs), (text, ours, theirs)


@pytest.mark.parametrize("case", _ALL, ids=_name)
def test_tags_of_tokens_make_the_entities_of_transformers(case: RightValues) -> None:
    _require_transformers(case, "token")


@pytest.mark.parametrize("case", _WORDPIECE, ids=_name)
def test_tags_of_words_make_the_entities_of_transformers(case: RightValues) -> None:
    _require_transformers(case, "first")


@pytest.mark.parametrize("spelling", _SPELLINGS)
@pytest.mark.parametrize("scheme", _SCHEMES)
def test_entities_written_as_tags_are_read_as_they_were(scheme: str, spelling: str) -> None:
    """Every word is one character; two entities may touch, of one label too."""
    spell, letters = _SPELLINGS[spelling], _SCHEMES[scheme]
    positions = sorted(set(letters) - {"O"})
    outside = "o" if spelling.islower() else "O"
    names = [outside, *(spell(position, label) for label in _LABELS for position in positions)]
    for seed in range(200):
        chance = random.Random(seed)
        entities = _entities(chance)
        tags = [outside] * 30
        for start, end, label in entities:
            tags[start:end] = [spell(letter, label) for letter in _letters(letters, end - start)]
        tokens = [[index, index + 1, index, tag, 0.9] for index, tag in enumerate(tags)]
        meant = [(start, end, label.lower() if spelling.islower() else label) for start, end, label in entities]
        assert [one[:3] for one in decoded(names, tokens, "字" * 30)] == meant, tags


def _letters(letters: str, length: int) -> str:
    return letters[3] if length == 1 else letters[0] + letters[1] * (length - 2) + letters[2]


def _entities(chance: random.Random) -> list[tuple[int, int, str]]:
    found, position = [], chance.randrange(4)
    while position < 26:
        length = chance.randint(1, 4)
        found.append((position, position + length, chance.choice(_LABELS)))
        position += length + chance.choice((0, 0, 1, 3))
    return found
