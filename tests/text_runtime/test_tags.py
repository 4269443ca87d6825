"""Which labels are positions of a tag scheme, and what entities they make."""

from collections.abc import Sequence

import pytest

from text_runtime.tasks.tags import TagScheme, Word

SCHEMES = ("BIO", "IO", "BIOES", "BILOU", "BMESO")
FORMS = ("{position}-{label}", "{position}_{label}", "{label}-{position}", "{label}_{position}")
# Six words of one scheme each: a person of one word, a place of three, nothing, a place of one.
SENTENCES = {
    "BIO": "B B I I O B",
    "IO": "I I I I O I",
    "BIOES": "S B I E O S",
    "BILOU": "U B I L O U",
    "BMESO": "S B M E O S",
}
WANTED = [(0, 1, "PER"), (1, 4, "LOC"), (5, 6, "LOC")]


def found(names: Sequence[str], tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """The entities of words of one character each."""
    words = [Word(index, index + 1, names.index(tag), 1.0) for index, tag in enumerate(tags)]
    return [(entity.start, entity.end, entity.label) for entity in TagScheme(names).entities(words)]


def labels_of(scheme: str, form: str, extra: Sequence[str] = ()) -> list[str]:
    """A release's labels: `O`, every position of two labels, and others."""
    positions = [letter for letter in scheme if letter != "O"]
    return ["O", *(form.format(position=one, label=label) for label in ("PER", "LOC") for one in positions), *extra]


@pytest.mark.parametrize("extra", [(), ("[PAD]", "X", "MISC", "LABEL_7", "E-MAIL")], ids=["alone", "with classes"])
@pytest.mark.parametrize("is_lower", [False, True], ids=["capitals", "small letters"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_is_read_in_every_form(scheme: str, form: str, is_lower: bool, extra: tuple[str, ...]) -> None:
    names = labels_of(scheme, form, extra[:1] if scheme == "IO" else extra)  # with more there is no telling
    words = zip(SENTENCES[scheme].split(), ["PER", "LOC", "LOC", "LOC", "", "LOC"], strict=True)
    tags = [form.format(position=position, label=label) if label else "O" for position, label in words]
    wanted = WANTED
    if is_lower:
        names, tags = [name.lower() for name in names], [tag.lower() for tag in tags]
        wanted = [(start, end, label.lower()) for start, end, label in WANTED]
    assert found(names, tags) == wanted


BIO = ("O", "B-PER", "I-PER")
BIOES = (*BIO, "E-PER", "S-PER")
BILOU = (*BIO, "L-PER", "U-PER")
# Labels of a release; a tag for each word; the entities: start, end, label.
TABLE: dict[str, tuple[tuple[str, ...], str, list[tuple[int, int, str]]]] = {
    "a class beside BIO": ((*BIO, "MISC"), "B-PER MISC MISC I-PER", [(0, 1, "PER"), (1, 3, "MISC"), (3, 4, "PER")]),
    "a padding class": ((*BIO, "[PAD]"), "[PAD] B-PER I-PER", [(0, 1, "[PAD]"), (1, 3, "PER")]),
    "a scheme of one position": (("O", "I-PER", "I-LOC", "[PAD]"), "I-PER I-PER I-LOC", [(0, 2, "PER"), (2, 3, "LOC")]),
    "beginnings only": (("O", "B-PER", "B-LOC"), "B-PER B-PER B-LOC", [(0, 1, "PER"), (1, 2, "PER"), (2, 3, "LOC")]),
    "a word with such a letter": (("O", "E-MAIL", "PHONE"), "E-MAIL E-MAIL PHONE", [(0, 2, "E-MAIL"), (2, 3, "PHONE")]),
    "it alone": (("O", "E-MAIL"), "E-MAIL E-MAIL", [(0, 2, "E-MAIL")]),
    "it beside BIO": ((*BIO, "E-MAIL", "S-CLUB"), "E-MAIL E-MAIL S-CLUB", [(0, 2, "E-MAIL"), (2, 3, "S-CLUB")]),
    "it beside BIOES": ((*BIOES, "E-MAIL"), "E-MAIL E-MAIL", [(0, 2, "E-MAIL")]),
    "two beside BILOU": ((*BILOU, "E-MAIL", "L-form"), "E-MAIL L-form L-form", [(0, 1, "E-MAIL"), (1, 3, "L-form")]),
    "U and L need a scheme": ((*BIO, "U-BOAT", "L-carnitine"), "U-BOAT U-BOAT", [(0, 2, "U-BOAT")]),
    "U in its scheme": ((*BILOU, "U-BOAT"), "U-BOAT U-BOAT", [(0, 1, "BOAT"), (1, 2, "BOAT")]),
    "few of many": (("I-95", "US-1", "A1"), "I-95 I-95 US-1", [(0, 2, "I-95"), (2, 3, "US-1")]),
    "vitamins": (("O", "vitamin_b", "vitamin_e", "vitamin_k"), "vitamin_b vitamin_b", [(0, 2, "vitamin_b")]),
    "a list of letters": (("O", "HEP-A", "HEP-B", "HEP-C"), "HEP-B HEP-B", [(0, 2, "HEP-B")]),
    "a list beside BIO": ((*BIO, "HEP-A", "HEP-B"), "HEP-B HEP-B B-PER", [(0, 2, "HEP-B"), (2, 3, "PER")]),
    "stages": (("O", "STAGE_I", "STAGE_II"), "STAGE_I STAGE_I", [(0, 2, "STAGE_I")]),
    "a letter as a label": (("O", "B-B", "I-B", "B-I", "I-I"), "B-I I-I B-B I-B", [(0, 2, "I"), (2, 4, "B")]),
    "letters as labels behind": (
        ("O", "s-B", "s-I", "u-B", "u-I", "n-B", "n-I"), "s-B s-I u-B n-B", [(0, 2, "s"), (2, 3, "u"), (3, 4, "n")]
    ),
    "a dash in a label": (("O", "B-E-MAIL", "I-E-MAIL"), "B-E-MAIL I-E-MAIL", [(0, 2, "E-MAIL")]),
    "a small o outside": (("o", "B-PER", "I-PER"), "o B-PER o", [(1, 2, "PER")]),
    "a small o as a class": (("a", "n", "o"), "n o", [(0, 1, "n"), (1, 2, "o")]),
    "plain classes": (("O", "PER", "LOC"), "PER PER O LOC", [(0, 2, "PER"), (3, 4, "LOC")]),
    "letters alone are classes": (("O", "B", "I"), "B I I", [(0, 1, "B"), (1, 3, "I")]),
    "a single begins none": (BILOU, "U-PER I-PER", [(0, 1, "PER"), (1, 2, "PER")]),
    "singles that touch": (BILOU, "U-PER U-PER B-PER L-PER", [(0, 1, "PER"), (1, 2, "PER"), (2, 4, "PER")]),
    "cut before its end": (BILOU, "U-PER U-PER B-PER", [(0, 1, "PER"), (1, 2, "PER"), (2, 3, "PER")]),
    "one without a beginning": (BIOES, "O I-PER E-PER", [(1, 3, "PER")]),
    "an end alone": (BIOES, "O E-PER O", [(1, 2, "PER")]),
    "ends without a beginning": (BIOES, "E-PER E-PER", [(0, 2, "PER")]),
    "an end too many": (BIOES, "B-PER E-PER E-PER", [(0, 2, "PER"), (2, 3, "PER")]),
    "singles in a broken stretch": (BIOES, "S-PER S-PER I-PER O S-PER S-PER",
        [(0, 2, "PER"), (2, 3, "PER"), (4, 5, "PER"), (5, 6, "PER")]),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_labels_are_positions_only_where_all_labels_say_so(case: str) -> None:
    names, tags, expected = TABLE[case]
    assert found(names, tags.split()) == expected
