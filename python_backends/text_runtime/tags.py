"""From a tag for each word to entities: BIO, BIOES and plain tags, written `B-PER`, `B_PER` or `PER-B`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

OUTSIDE = "O"
_BEFORE = re.compile(r"([BIMES])[-_](.+)")
_AFTER = re.compile(r"(.+)[-_]([BIMES])")


@dataclass(frozen=True)
class Word:
    """One word of a text: its characters, the column of its tag, and that tag's score."""

    start: int
    end: int
    tag: int
    score: float


@dataclass(frozen=True)
class Entity:
    """A labelled stretch of a text. The score is the mean of its words'."""

    start: int
    end: int
    label: str
    score: float


class TagScheme:
    """How the tags of a release are to be read.

    Where every tag but `O` carries a position, positions decide where an entity begins and ends: B and S always begin
    one, E and S always end one, and an I without a beginning begins one. Plain tags merge with a neighbour of the same.
    """

    def __init__(self, names: Sequence[str]) -> None:
        split = [_split(name) for name in names]
        if any(position == "" for position, _ in split):
            split = [(OUTSIDE, "") if name == OUTSIDE else ("I", name) for name in names]
        self._tags = split

    def entities(self, words: Sequence[Word]) -> Iterator[Entity]:
        """The entities of one text, in order; two that touch stay two."""
        open_words: list[Word] = []
        label = ""
        for word in words:
            position, tag_label = self._tags[word.tag]
            if open_words and (position in "BSO" or tag_label != label):
                yield _entity(open_words, label)
                open_words = []
            if position == OUTSIDE:
                continue
            open_words.append(word)
            label = tag_label
            if position in "ES":
                yield _entity(open_words, label)
                open_words = []
        if open_words:
            yield _entity(open_words, label)


def _split(name: str) -> tuple[str, str]:
    if name == OUTSIDE:
        return OUTSIDE, ""
    if match := _BEFORE.fullmatch(name):
        return match[1].replace("M", "I"), match[2]
    if match := _AFTER.fullmatch(name):
        return match[2].replace("M", "I"), match[1]
    return "", name


def _entity(words: Sequence[Word], label: str) -> Entity:
    score = sum(word.score for word in words) / len(words)
    return Entity(words[0].start, max(word.end for word in words), label, score)
