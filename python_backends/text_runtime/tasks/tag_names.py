"""What a release's labels say: which are positions of a tag scheme (`B-PER`, `loc_e`), and which are plain classes.

The scheme is inferred from all labels of a release together, since a single one cannot tell: `E-MAIL` is the end of a
`MAIL` only where the labels also have its beginning.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

OUTSIDE = "O"
_FAMILIES = (frozenset("BIMES"), frozenset("BILU"))
_USUAL = frozenset("BI")
_STARTS_OR_SINGLE = frozenset("BISU")
_SPECIAL = re.compile(r"[\[<].*[\]>]")
_ENOUGH = 0.5
"""Share of the labels that must have a position where no label has two: `I-PER`, `I-LOC` and `[PAD]` are a scheme."""


class Position(Enum):
    """Where in an entity a word stands; M counts as I, L as E and U as S. A plain class has no position."""

    BEGIN = "B"
    INSIDE = "I"
    END = "E"
    SINGLE = "S"
    PLAIN = ""
    OUTSIDE = "O"


_POSITIONS: dict[str, Position] = {letter: Position(letter) for letter in "BIES"}
_POSITIONS |= {"M": Position.INSIDE, "L": Position.END, "U": Position.SINGLE}


@dataclass(frozen=True)
class Tag:
    """One label, read."""

    position: Position
    label: str


@dataclass(frozen=True)
class _Form:
    """One way to write a position. `transformers` knows `B-PER`; the others need more proof."""

    pattern: re.Pattern[str]
    is_usual: bool = False


_FORMS = (
    _Form(re.compile(r"(?P<letter>[A-Z])[-_](?P<label>.+)"), is_usual=True),
    _Form(re.compile(r"(?P<letter>[a-z])[-_](?P<label>.+)")),
    _Form(re.compile(r"(?P<label>.+)[-_](?P<letter>[A-Z])")),
    _Form(re.compile(r"(?P<label>.+)[-_](?P<letter>[a-z])")),
)


def read_tags(names: Sequence[str]) -> list[Tag]:
    """Read a release's labels, in their order.

    All positions of a release are written one way: before or after the label, in capitals or not. It is the way that
    reads most labels. Labels that it does not read are plain classes, each on its own.
    """
    known = max((_reading(names, form) for form in _FORMS), key=len)
    outside = OUTSIDE.lower() if known and OUTSIDE not in names else OUTSIDE
    plain = {name: Tag(Position.PLAIN, name) for name in names}
    tags = plain | known | {outside: Tag(Position.OUTSIDE, "")}
    return [tags[name] for name in names]


def _reading(names: Sequence[str], form: _Form) -> dict[str, Tag]:
    """The labels that this form reads as positions: none, unless the labels prove a scheme."""
    found = {name: match for name in names if (match := form.pattern.fullmatch(name))}
    letters: dict[str, set[str]] = defaultdict(set)
    for match in found.values():
        letters[match["label"]].add(match["letter"].upper())
    allowed = _proven(letters, form) or _single(names, letters, form)
    kept = {label for label, own in letters.items() if _is_named(own, allowed, form)}
    return {
        name: Tag(_POSITIONS[letter], match["label"])
        for name, match in found.items()
        if match["label"] in kept and (letter := match["letter"].upper()) in allowed
    }


def _proven(letters: Mapping[str, set[str]], form: _Form) -> frozenset[str]:
    """The positions of the scheme that some label proves by having two of them, one of which is B or I."""
    allowed: set[str] = set()
    for own in letters.values():
        is_listed = form.is_usual and own >= _USUAL
        for family in _FAMILIES:
            shown = own & family
            if len(shown) > 1 and shown & _USUAL and (own == shown or is_listed):
                allowed |= _USUAL if shown <= _USUAL else family
    return frozenset(allowed)


def _single(names: Sequence[str], letters: Mapping[str, set[str]], form: _Form) -> frozenset[str]:
    """B and I where no label has both, as in IO: if half of the labels have one of them.

    `STAGE_I` beside `STAGE_II` is no position: in an unusual form a single label proves nothing.
    """
    named = [name for name in names if name.upper() != OUTSIDE and not _SPECIAL.fullmatch(name)]
    count = sum(own <= _USUAL for own in letters.values())
    is_proven = count == len(named) or (count >= len(named) * _ENOUGH and (form.is_usual or count > 1))
    return _USUAL if count and is_proven else frozenset()


def _is_named(own: set[str], allowed: frozenset[str], form: _Form) -> bool:
    """Whether a label's letters are positions: an end alone is none, nor is one of `HEP-A`, `HEP-B`, `HEP-C`."""
    return bool(own & allowed & _STARTS_OR_SINGLE) and (own <= allowed or form.is_usual and bool(own & _USUAL))
