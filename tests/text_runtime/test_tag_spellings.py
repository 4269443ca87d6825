"""Tag schemes: every kind, in every spelling, and what a label without a position does to it."""

import pytest

from text_runtime.tasks.tags import TagScheme, Word

Found = list[tuple[int, int, str]]

KINDS = {
    "BIO": ("BII O B", [(0, 3), (4, 5)]),
    "IO": ("II O I", [(0, 2), (3, 4)]),
    "BIOES": ("BIE S O S BE", [(0, 3), (3, 4), (5, 6), (6, 8)]),
    "BILOU": ("BIL U O U BL", [(0, 3), (3, 4), (5, 6), (6, 8)]),
    "BMES": ("BME S O S BE", [(0, 3), (3, 4), (5, 6), (6, 8)]),
}
SPELLINGS = {
    "prefix": lambda position, label: f"{position}-{label}",
    "underscore": lambda position, label: f"{position}_{label}",
    "suffix": lambda position, label: f"{label}-{position}",
    "suffix, underscore": lambda position, label: f"{label}_{position}",
    "lower case": lambda position, label: f"{position}-{label}".lower(),
}


def decoded(names: list[str], tags: list[str]) -> Found:
    """The entities of words that are one character each."""
    words = [Word(place, place + 1, names.index(tag), 0.5) for place, tag in enumerate(tags)]
    return [(entity.start, entity.end, entity.label) for entity in TagScheme(names).entities(words)]


@pytest.mark.parametrize("more", [[], ["MISC"], ["E-MAIL", "X"]], ids=["pure", "a class", "a class with a hyphen"])
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_scheme_is_read_however_it_is_spelt_and_whatever_stands_beside_it(
    kind: str, spelling: str, more: list[str]
) -> None:
    sequence, spans = KINDS[kind]
    write = SPELLINGS[spelling]
    outside, label = ("o", "per") if spelling == "lower case" else ("O", "PER")
    positions = sorted(set(kind) - {"O"})
    names = [outside, *(write(position, each) for each in (label, label[::-1]) for position in positions), *more]
    tags = [outside if letter == "O" else write(letter, label) for letter in sequence if letter != " "]
    assert decoded(names, tags) == [(start, end, label) for start, end in spans]
    for name in more:
        assert decoded(names, [name, name, outside, name]) == [(0, 2, name), (3, 4, name)]


def test_plain_classes_stay_plain_whatever_their_first_letter() -> None:
    names = ["O", "E-MAIL", "S-CLUB", "L-carnitine", "PHONE"]
    assert decoded(names, ["E-MAIL", "E-MAIL", "O", "S-CLUB", "PHONE"]) == [
        (0, 2, "E-MAIL"),
        (3, 4, "S-CLUB"),
        (4, 5, "PHONE"),
    ]


def test_where_a_tagger_breaks_its_scheme_words_of_the_very_same_tag_belong_together() -> None:
    names = ["O", *(f"{position}-PER" for position in "BILU"), *(f"{position}-LOC" for position in "BILU")]
    lawful = ["U-PER", "U-PER", "O", "B-LOC", "L-LOC"]
    assert decoded(names, lawful) == [(0, 1, "PER"), (1, 2, "PER"), (3, 5, "LOC")]
    broken = ["U-PER", "U-PER", "I-LOC", "O", "L-PER", "L-PER"]
    assert decoded(names, broken) == [(0, 2, "PER"), (2, 3, "LOC"), (4, 6, "PER")]


def test_two_beginnings_are_two_entities_also_where_the_scheme_is_broken() -> None:
    names = ["O", "B-PER", "I-PER", "E-PER"]
    assert decoded(names, ["B-PER", "B-PER", "E-PER"]) == [(0, 1, "PER"), (1, 3, "PER")]
