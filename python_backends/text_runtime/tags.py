"""From a tag for each word to entities: BIO, BIOES, BILOU, BMES and plain tags, in any case, position first or last."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

OUTSIDE = "O"
_SAME = {"M": "I", "L": "E", "U": "S"}
"""Other letters for the same positions: M of BMES, L and U of BILOU."""
_BEFORE = re.compile(r"([BIMESLU])[-_](.+)", re.IGNORECASE)
_AFTER = re.compile(r"(.+)[-_]([BIMESLU])", re.IGNORECASE)


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

    Positions decide where an entity begins and ends: B and S always begin one, E and S always end one, an I without a
    beginning begins one. A tag without a position is a class whose neighbours belong together.

    A stretch of tags that breaks the scheme (an E without a beginning, say) is a tagger's mistake. There, words of the
    very same tag belong together too, as they do for transformers' own pipeline.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._tags = _read(names)
        positions = {position for position, _ in self._tags}
        self._has_ends, self._has_singles = "E" in positions, "S" in positions

    def entities(self, words: Sequence[Word]) -> Iterator[Entity]:
        """The entities of one text, in order; two that touch stay two."""
        for is_outside, stretch in groupby(words, lambda word: self._tags[word.tag][0] == OUTSIDE):
            if not is_outside:
                yield from self._entities(list(stretch))

    def _entities(self, stretch: Sequence[Word]) -> Iterator[Entity]:
        is_lawful = self._is_lawful(stretch)
        opened = [stretch[0]]
        for word in stretch[1:]:
            if not self._continues(opened[-1].tag, word.tag, is_lawful):
                yield _entity(opened, self._tags[opened[0].tag][1])
                opened = []
            opened.append(word)
        yield _entity(opened, self._tags[opened[0].tag][1])

    def _continues(self, before: int, tag: int, is_lawful: bool) -> bool:
        """Whether a word belongs to the entity of the word before it."""
        (last, label), (position, own_label) = self._tags[before], self._tags[tag]
        if label != own_label or position == "B":
            return False
        return (last in "BI" and position in "IE") or (before == tag and not is_lawful)

    def _is_lawful(self, stretch: Sequence[Word]) -> bool:
        """Whether every entity of a stretch begins and ends as the scheme wants it."""
        opened: str | None = None
        for position, label in (self._tags[word.tag] for word in stretch):
            if position in "IE" and opened != label:
                return False
            if position in "BS" and opened is not None and self._has_ends:
                return False
            opened = label if position in "BI" else None
        return opened is None or not self._has_ends


def _entity(words: Sequence[Word], label: str) -> Entity:
    score = sum(word.score for word in words) / len(words)
    return Entity(words[0].start, max(word.end for word in words), label, score)


def _read(names: Sequence[str]) -> list[tuple[str, str]]:
    """Position and label of each tag. All tags have their position on one side, where B or I stand."""
    for pattern, (position, label) in ((_BEFORE, (1, 2)), (_AFTER, (2, 1))):
        split = {name: (match[position].upper(), match[label]) for name in names if (match := pattern.fullmatch(name))}
        begun = {label for position, label in split.values() if position in "BI"}
        if begun:
            kept = {name: found for name, found in split.items() if _is_position(*found, split, begun)}
            return [_tag(name, kept, any(name.islower() for name in kept)) for name in names]
    return [_tag(name, {}, False) for name in names]


def _is_position(position: str, label: str, split: dict[str, tuple[str, str]], begun: set[str]) -> bool:
    """Whether a letter is a position, and not the first of a word: `E-MAIL` beside `B-PER` is one class.

    What may go on or end must have a beginning. A label that only ever stands alone is known by others of its kind.
    """
    if position in "BI" or label in begun:
        return True
    others = {found for place, found in split.values() if place == position}
    return position in "SU" and bool(others & begun)


def _tag(name: str, kept: dict[str, tuple[str, str]], is_lower: bool) -> tuple[str, str]:
    if name in kept:
        position, label = kept[name]
        return _SAME.get(position, position), label
    return (OUTSIDE, "") if name == OUTSIDE or (is_lower and name == OUTSIDE.lower()) else ("I", name)
