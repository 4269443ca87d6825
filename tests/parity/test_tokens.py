"""Tokenizers of every kind make the tokens that the library made when it was asked, with the same offsets."""

import json
from pathlib import Path
from typing import Any

import pytest

from text_runtime.facts import TokenizerFacts
from text_runtime.tokenizers.tokenizer import TextTokenizer

_FOLDER = Path(__file__).parents[1] / "testdata" / "parity" / "tokens"
_KINDS = sorted(path.stem for path in _FOLDER.glob("*.json"))


def _values(kind: str) -> Any:
    return json.loads((_FOLDER / f"{kind}.json").read_text(encoding="utf-8"))


def _tokenizer(kind: str, values: Any, length: int, has_spans: bool = False) -> TextTokenizer:
    facts = TokenizerFacts(length, values["pad"], truncation_side=values["side"])
    return TextTokenizer(_FOLDER / kind, facts, has_spans)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_text_becomes_the_recorded_ids_and_offsets(kind: str) -> None:
    values = _values(kind)
    for batch in values["batches"]:
        texts = batch["texts"]
        rows = _tokenizer(kind, values, batch["length"], has_spans=True).encode(texts)
        spans = [[None if start < 0 else [start, end] for start, end, _ in row.spans.tolist()] for row in rows]
        assert [row.ids for row in rows] == batch["alone"]["ids"]
        assert spans == batch["alone"]["offsets"]
        assert [row.ids for row in _tokenizer(kind, values, batch["length"]).encode(texts)] == batch["alone"]["ids"]


@pytest.mark.parametrize("kind", _KINDS)
def test_a_pair_becomes_the_recorded_ids_and_types(kind: str) -> None:
    values = _values(kind)
    for batch in values["batches"]:
        texts = batch["texts"]
        rows = _tokenizer(kind, values, batch["length"]).encode(texts, [*texts[1:], texts[0]])
        assert [row.ids for row in rows] == batch["pairs"]["ids"]
        assert [row.type_ids for row in rows] == batch["pairs"]["types"]
