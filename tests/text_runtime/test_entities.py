"""Entities and their characters, from a real tokenizer and chosen tags: a table by hand, and texts by chance."""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from converters.paddle_runtime import import_paddlenlp
from tests.tasks.checkpoints import vocabulary
from text_runtime.facts import TokenizerFacts
from text_runtime.tasks import Labels, task
from text_runtime.tensors import INPUT_IDS, LENGTHS, SPANS
from text_runtime.tokenizers.rows import RowTokenizer

NAMES = ("O", *(f"{position}-{label}" for label in ("PER", "LOC", "ORG") for position in "BIES"))
PLAIN = ("O", "PER", "LOC")
TASK = task("token-classification")
Entities = list[tuple[int, int, str, str]]

# Text as sent; a tag for each token; and what a reader would call the entities: start, end, text, label.
TABLE: dict[str, tuple[str, str, Entities]] = {
    "an entity in the middle": ("在北京工作", "O B-LOC I-LOC O O", [(1, 3, "北京", "LOC")]),
    "at the start": ("北京好", "B-LOC I-LOC O", [(0, 2, "北京", "LOC")]),
    "at the end": ("我在北京", "O O B-LOC I-LOC", [(2, 4, "北京", "LOC")]),
    "the whole text": ("北京", "B-LOC I-LOC", [(0, 2, "北京", "LOC")]),
    "none": ("北京", "O O", []),
    "two that touch": ("北京上海", "B-LOC I-LOC B-LOC I-LOC", [(0, 2, "北京", "LOC"), (2, 4, "上海", "LOC")]),
    "two labels that touch": ("三北京", "B-PER I-LOC I-LOC", [(0, 1, "三", "PER"), (1, 3, "北京", "LOC")]),
    "one without a beginning": ("在北京", "O I-LOC I-LOC", [(1, 3, "北京", "LOC")]),
    "with begin and end": ("在北京市", "O B-LOC I-LOC E-LOC", [(1, 4, "北京市", "LOC")]),
    "single ones that touch": ("京沪", "S-LOC S-LOC", [(0, 1, "京", "LOC"), (1, 2, "沪", "LOC")]),
    "one that ended": ("北京上", "B-LOC E-LOC I-LOC", [(0, 2, "北京", "LOC"), (2, 3, "上", "LOC")]),
    "digits in one word": ("于2024年", "O B-LOC O O O I-LOC", [(1, 6, "2024年", "LOC")]),
    "digits between": ("北2京", "B-LOC I-LOC I-LOC", [(0, 3, "北2京", "LOC")]),
    "Latin words": (
        "John Smith住在Paris", "B-PER I-PER O O B-LOC", [(0, 10, "John Smith", "PER"), (12, 17, "Paris", "LOC")]
    ),
    "a word of pieces, tagged by its first": ("Johnson在", "B-PER O O", [(0, 7, "Johnson", "PER")]),
    "a name with a number": ("买iPhone 15", "O B-ORG I-ORG O", [(1, 10, "iPhone 15", "ORG")]),
    "dots in a name": ("A.B.公司", "B-ORG I-ORG I-ORG I-ORG I-ORG I-ORG", [(0, 6, "A.B.公司", "ORG")]),
    "symbols in a name": ("C++好", "B-ORG I-ORG I-ORG O", [(0, 3, "C++", "ORG")]),
    "an emoji counts one": ("😀北京", "O B-LOC I-LOC", [(1, 3, "北京", "LOC")]),
    "a skin tone counts one more": ("👍🏽北京", "O O B-LOC I-LOC", [(2, 4, "北京", "LOC")]),
    "an emoji and its skin tone": ("我👍🏽你", "O B-PER I-PER O", [(1, 3, "👍🏽", "PER")]),
    "a family is joined by characters that are dropped": (
        "👨‍👩‍👧在北京", "B-PER I-PER I-PER O B-LOC I-LOC", [(0, 5, "👨‍👩‍👧", "PER"), (6, 8, "北京", "LOC")]
    ),
    "a flag is two": ("🇨🇳队", "B-ORG I-ORG I-ORG", [(0, 3, "🇨🇳队", "ORG")]),
    "a heart with its variation": ("❤️北京", "S-ORG B-LOC I-LOC", [(0, 2, "❤️", "ORG"), (2, 4, "北京", "LOC")]),
    "a keycap": ("1️⃣号", "B-LOC I-LOC", [(0, 4, "1️⃣号", "LOC")]),
    "full-width forms": ("ＡＢＣ公司", "B-ORG I-ORG I-ORG", [(0, 5, "ＡＢＣ公司", "ORG")]),
    "full-width digits": ("在１２３号", "O B-LOC I-LOC", [(1, 5, "１２３号", "LOC")]),
    "an accent of its own at the end": ("去cafe\u0301", "O B-LOC O O O", [(1, 6, "cafe\u0301", "LOC")]),
    "an accent of its own inside": ("e\u0301a店", "B-LOC O I-LOC", [(0, 4, "e\u0301a店", "LOC")]),
    "marks upon a Chinese character": ("京\u0301\u0302都", "S-LOC O", [(0, 3, "京\u0301\u0302", "LOC")]),
    "an accent within the letter": ("去café好", "O B-LOC O O O O", [(1, 5, "café", "LOC")]),
    "a vowel sign at the end": ("नमस्ते好", "S-PER O", [(0, 6, "नमस्ते", "PER")]),
    "a zero-width space inside": ("北\u200b京", "B-LOC I-LOC", [(0, 3, "北\u200b京", "LOC")]),
    "a zero-width space behind": ("北京\u200b好", "B-LOC I-LOC O", [(0, 2, "北京", "LOC")]),
    "a byte order mark in front": ("\ufeff北京", "B-LOC I-LOC", [(1, 3, "北京", "LOC")]),
    "a null between two": ("北\x00京", "S-LOC S-LOC", [(0, 1, "北", "LOC"), (2, 3, "京", "LOC")]),
    "a character of private use": ("北京\ue000", "B-LOC I-LOC", [(0, 2, "北京", "LOC")]),
    "unknown ones keep their text": ("張龘在", "B-PER I-PER O", [(0, 2, "張龘", "PER")]),
    "an unknown word keeps its text": ("Straße好", "S-LOC O", [(0, 6, "Straße", "LOC")]),
    "beyond the basic plane": ("𠮷野家", "B-ORG I-ORG I-ORG", [(0, 3, "𠮷野家", "ORG")]),
    "a letter that grows when lowered": ("İ在京", "S-LOC O S-LOC", [(0, 1, "İ", "LOC"), (2, 3, "京", "LOC")]),
    "a ligature": ("ﬁ北京", "O B-LOC I-LOC", [(1, 3, "北京", "LOC")]),
    "Hangul, which is taken apart": ("서울市", "B-LOC I-LOC", [(0, 3, "서울市", "LOC")]),
    "blanks around": ("  北京\t ", "B-LOC I-LOC", [(2, 4, "北京", "LOC")]),
    "an ideographic blank between": ("北京\u3000上", "B-LOC I-LOC I-LOC", [(0, 4, "北京\u3000上", "LOC")]),
    "a line break inside": ("中\r\n国", "B-LOC I-LOC", [(0, 4, "中\r\n国", "LOC")]),
    "nothing but blanks": (" \t\n", "", []),
    "an empty text": ("", "", []),
}  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `tokenizer.json` that an export makes of an ERNIE tokenizer."""
    from converters.tokenizers.wordpiece import write_wordpiece

    folder = tmp_path_factory.mktemp("tokenizer")
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(vocabulary())) + "\n", encoding="utf-8")
    write_wordpiece(import_paddlenlp().ErnieTokenizer(str(folder / "vocab.txt")), folder / "tokenizer.json")
    return folder


def tokenized(folder: Path, text: str, facts: TokenizerFacts) -> dict[str, Any]:
    """The tokenizer step's tensors for one text."""
    outputs = [INPUT_IDS.name, LENGTHS.name, SPANS.name]
    tokenizer = RowTokenizer(folder, facts, TASK.inputs, outputs)
    inputs = {"text": np.array([[text.encode()]], dtype=np.object_)}
    (tensors,) = tokenizer.encode([tokenizer.read(inputs)])
    return {**inputs, **tensors}


def entities(tensors: dict[str, Any], tags: Sequence[int], names: Sequence[str] = NAMES) -> list[dict[str, Any]]:
    """What the task makes of a tag for each token of a text. All other places say loudly that they begin a person."""
    spans = tensors[SPANS.name]
    logits = np.zeros((*spans.shape[:2], len(names)), dtype=np.float32)
    logits[:, :, 1] = 50.0
    own = np.flatnonzero(spans[0, :, 0] >= 0)
    assert len(own) == len(tags), f"{len(own)} tokens, {len(tags)} tags"
    logits[0, own] = 0.0
    logits[0, own, list(tags)] = 9.0
    (answer,) = TASK.decoder(Labels(tuple(names)), dict)([{**tensors, "logits": logits}])
    found: list[dict[str, Any]] = orjson.loads(answer["entities"][0, 0])
    return found


def indices(tags: str, names: Sequence[str] = NAMES) -> list[int]:
    """Tags by name as columns."""
    return [names.index(tag) for tag in tags.split()]


def as_rows(found: Sequence[dict[str, Any]]) -> Entities:
    """Entities as the table writes them."""
    return [(entity["start"], entity["end"], entity["text"], entity["label"]) for entity in found]


WHOLE = TokenizerFacts(max_length=64, pad_token_id=0)


@pytest.mark.parametrize("case", TABLE)
def test_an_entity_has_the_characters_that_a_reader_would_mark(tokenizer_folder: Path, case: str) -> None:
    text, tags, expected = TABLE[case]
    assert all(text[start:end] == words for start, end, words, _ in expected), "the table itself"
    assert as_rows(entities(tokenized(tokenizer_folder, text, WHOLE), indices(tags))) == expected


def test_half_of_a_surrogate_pair_is_no_text(tokenizer_folder: Path) -> None:
    tokenizer = RowTokenizer(tokenizer_folder, WHOLE, TASK.inputs, [SPANS.name])
    with pytest.raises(ValueError, match="input 'text', row 0: not valid UTF-8"):
        tokenizer.read({"text": np.array([["北\ud842".encode("utf-8", "surrogatepass")]], dtype=np.object_)})


def test_plain_tags_join_their_neighbours(tokenizer_folder: Path) -> None:
    tensors = tokenized(tokenizer_folder, "三在北京上海", WHOLE)
    found = entities(tensors, indices("PER O LOC LOC LOC LOC", PLAIN), PLAIN)
    assert as_rows(found) == [(0, 1, "三", "PER"), (2, 6, "北京上海", "LOC")]


@pytest.mark.parametrize("long_text", ["truncate", "window"])
def test_a_long_text_keeps_its_entities_once_each(tokenizer_folder: Path, long_text: str) -> None:
    """An entity every seven characters, also across the borders of windows of sixteen tokens."""
    text = "我在北京市上班" * 40
    facts = TokenizerFacts(max_length=16, pad_token_id=0, long_text=long_text)
    tensors = tokenized(tokenizer_folder, text, facts)
    tokens = int((tensors[SPANS.name][0, :, 0] >= 0).sum())
    found = entities(tensors, (indices("O O B-LOC I-LOC E-LOC O O") * 40)[:tokens])
    expected = [(start, start + 3, "北京市", "LOC") for start in range(2, tokens, 7)]
    if long_text == "truncate":
        assert tokens == 14
    else:
        assert tokens == len(text)
    assert as_rows(found) == expected[: len(found)]
    assert len(found) == tokens // 7


_HARD = st.sampled_from(
    [
        *"北京工在的张龘𠮷aAzé0９Ａ.,，。-+$①〇ßİﬁⅧ서😀👍🏽👨❤",
        *"\u200d\ufe0f\u20e3\u0301\u0302\u200b\u00ad\ufeff\x00\ue000\U000e0041",
        *" \t\n\u3000\u2028",
    ]
)
_TEXTS = st.one_of(st.text(_HARD, max_size=60), st.text(max_size=40))


@given(_TEXTS, st.randoms(use_true_random=False), st.sampled_from(["truncate", "window"]))
@settings(max_examples=300, deadline=None)
def test_an_entity_is_the_text_between_its_offsets(
    tokenizer_folder: Path, text: str, chance: Any, long_text: str
) -> None:
    tensors = tokenized(tokenizer_folder, text, TokenizerFacts(12, 0, long_text=long_text))
    own = tensors[SPANS.name][0][tensors[SPANS.name][0, :, 0] >= 0]
    tags = [chance.randrange(len(NAMES)) for _ in own]
    found = entities(tensors, tags)
    for entity in found:
        assert entity["text"] == text[entity["start"] : entity["end"]] == entity["text"].strip() != ""
    assert all(one["end"] <= other["start"] for one, other in pairwise(found))
    firsts = {int(word): index for index, word in reversed(list(enumerate(own[:, 2])))}
    for start, _, word in own.tolist():
        label = NAMES[tags[firsts[word]]][2:]
        around = [entity["label"] for entity in found if entity["start"] <= start < entity["end"]]
        if text[start].strip() and not is_mark(text[start]):  # a mark goes with what it stands upon
            assert around == ([label] if label else []), (text, start)


def is_mark(character: str) -> bool:
    """Whether a character stands upon the one before it."""
    return unicodedata.category(character).startswith("M")
