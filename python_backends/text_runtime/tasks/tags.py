"""From a tag for each word to entities: BIO, BIOES, BILOU, BMES, IO and plain classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from text_runtime.tasks.tag_names import Position, Tag, read_tags


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


_Tagged = tuple[Word, Tag]
_OPEN = (Position.BEGIN, Position.INSIDE, Position.PLAIN)


class TagScheme:
    """How the tags of a release are to be read.

    B begins an entity, S is one, and E ends one; an I without a beginning begins one, and so does an E. Plain classes
    merge with a neighbour of the same. Es without a beginning merge too, and so do Ss beside tags that no text of the
    scheme can have: there `transformers`, which knows only B and I, is followed.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._tags = read_tags(names)

    def entities(self, words: Sequence[Word]) -> Iterator[Entity]:
        """The entities of one text, in order; two that touch stay two."""
        stretch: list[_Tagged] = []
        for word in words:
            tag = self._tags[word.tag]
            if tag.position is Position.OUTSIDE:
                yield from _entities(stretch)
                stretch = []
            else:
                stretch.append((word, tag))
        yield from _entities(stretch)


def _entities(stretch: Sequence[_Tagged]) -> Iterator[Entity]:
    """The entities of neighbouring words, none of which is outside."""
    is_sound = _is_sound([tag for _, tag in stretch])
    group: list[_Tagged] = []
    for word, tag in stretch:
        if group and not _continues(group[0][1], group[-1][1], tag, is_sound):
            yield _entity(group)
            group = []
        group.append((word, tag))
    if group:
        yield _entity(group)


def _is_sound(tags: Sequence[Tag]) -> bool:
    """Whether every I and E has its beginning. An entity without an end is sound: its text may have been cut."""
    open_label = None
    for tag in tags:
        if tag.position in (Position.INSIDE, Position.END) and tag.label != open_label:
            return False
        open_label = tag.label if tag.position in _OPEN else None
    return True


def _continues(first: Tag, last: Tag, tag: Tag, is_sound: bool) -> bool:
    """Whether a word belongs to the entity whose first and last words are given."""
    if tag.label != last.label or tag.position is Position.BEGIN:
        return False
    if last.position in _OPEN:
        return tag.position is not Position.SINGLE
    if tag.position is not last.position:
        return False
    return first.position is Position.END if tag.position is Position.END else not is_sound


def _entity(group: Sequence[_Tagged]) -> Entity:
    words = [word for word, _ in group]
    score = sum(word.score for word in words) / len(words)
    return Entity(words[0].start, max(word.end for word in words), group[0][1].label, score)
