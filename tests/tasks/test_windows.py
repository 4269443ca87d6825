"""Long texts read in windows, beside a plain computation of the rule from PaddleNLP's own forward pass.

The texts are Chinese characters only, each of which is one token: a window is a piece of the text. A row holds 62 of
them between the special tokens. Neighbours share 16: the first 8 are the earlier window's, the others the later's.
"""

import json
import random
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.tasks.checkpoints import TAGS
from tests.tasks.conftest import Source
from tests.tasks.test_served import TOLERANCE, ask, softmax
from trireme.serving import Server

pytestmark = pytest.mark.xdist_group("tasks")
ROOM, SHARED = 62, 16
LENGTHS = (1, 8, 61, 62, 63, 70, 71, 107, 108, 109, 110, 116, 154, 155, 200, 246, 247, 300, 399, 400)


@pytest.fixture(scope="module")
def long_texts() -> list[str]:
    """Texts of these lengths; where a window more begins, both sides of it are there."""
    chance = random.Random(11)
    return ["".join(chance.choices([chr(0x4E00 + code) for code in range(3000)], k=length)) for length in LENGTHS]


def windows_of(text: str) -> list[tuple[int, str]]:
    """Where each window begins, and what it holds. The last one ends with the text."""
    found = [(0, text[:ROOM])]
    while found[-1][0] + ROOM < len(text):
        start = found[-1][0] + ROOM - SHARED
        found.append((start, text[start : start + ROOM]))
    return found


def weighted_mean(values: list[npt.NDArray[Any]], text: str) -> npt.NDArray[Any]:
    """Each window counts by the characters that no earlier one has shown."""
    ends = [0, *(start + len(piece) for start, piece in windows_of(text))]
    weights = [end - before for before, end in pairwise(ends)]
    result: npt.NDArray[Any] = np.average(np.stack(values), axis=0, weights=weights)
    return result


def test_scores_are_the_mean_over_windows_by_their_new_tokens(
    tasks_server: Server, source: Source, long_texts: list[str]
) -> None:
    answer = ask(tasks_server, "long-sentiment", text=long_texts)
    for text, scores in zip(long_texts, answer["scores"], strict=True):
        pieces = [piece for _, piece in windows_of(text)]
        theirs = [softmax(logits) for logits in source("sentiment", "ErnieForSequenceClassification", pieces)]
        assert np.abs(scores - weighted_mean(theirs, text)).max() < TOLERANCE
    assert not answer["truncated_chars"].any()


def test_embeddings_are_the_scaled_mean_over_windows_by_their_new_tokens(
    tasks_server: Server, source: Source, long_texts: list[str]
) -> None:
    for text, embedding in zip(long_texts, ask(tasks_server, "long-embed", text=long_texts)["embedding"], strict=True):
        pieces = [piece for _, piece in windows_of(text)]
        mean = weighted_mean([hidden.mean(axis=0) for hidden in source("base", "ErnieModel", pieces)], text)
        assert np.abs(embedding - mean / np.linalg.norm(mean)).max() < TOLERANCE


def test_every_character_is_tagged_by_the_window_that_it_lies_deeper_in_and_no_entity_is_doubled(
    tasks_server: Server, source: Source, long_texts: list[str]
) -> None:
    shared = 0
    for text, row in zip(long_texts, ask(tasks_server, "long-ner", text=long_texts)["entities"].ravel(), strict=True):
        expected = entities_of(tags_of(text, source), text)
        found = [{key: entity[key] for key in ("start", "end", "text", "label")} for entity in json.loads(row)]
        assert found == expected
        starts = [start for start, _ in windows_of(text)[1:]]
        shared += sum(start <= entity["start"] < start + SHARED for entity in expected for start in starts)
    assert shared > 50


def tags_of(text: str, source: Source) -> list[str]:
    """A tag for each character, from the window that owns it."""
    windows = windows_of(text)
    logits = source("tags", "ErnieForTokenClassification", [piece for _, piece in windows])
    tags = [""] * len(text)
    for (start, piece), scores in zip(windows, logits, strict=True):
        first = start + SHARED // 2 if start else 0
        for place in range(first, start + len(piece)):  # a later window writes over what it owns
            tags[place] = TAGS[int(scores[1 + place - start].argmax())]
    return tags


def entities_of(tags: list[str], text: str) -> list[dict[str, Any]]:
    """BIO by the book: B begins, I of the same label goes on, I of another begins too."""
    found: list[dict[str, Any]] = []
    before = "O"
    for place, tag in enumerate(tags):
        label = tag[2:]
        if tag.startswith("B") or (tag.startswith("I") and before[2:] != label):
            found.append({"start": place, "end": place + 1, "label": label})
        elif tag.startswith("I"):
            found[-1]["end"] = place + 1
        before = tag
    return [entity | {"text": text[entity["start"] : entity["end"]]} for entity in found]
