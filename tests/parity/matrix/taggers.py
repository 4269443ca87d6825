"""Heads that give every token a tag: families, schemes of tags, and ways to make one tag of a word's pieces."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers

from .case import NAMES, Case, Cases
from .models import labelled, write

_BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
_IO = ("O", "PER", "LOC")


def _write(family: str, tags: tuple[str, ...], settings: dict[str, Any], folder: Path) -> None:
    """A checkpoint whose biases are such that every tag is found: random ones favour one or two."""
    model = write(folder, family, "ForTokenClassification", tokenizer=settings, **labelled(*tags))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = [tokenizer(text, truncation=True, return_tensors="pt") for text in NAMES]
    with torch.no_grad():
        middle = torch.cat([model(**row).logits[0] for row in rows]).mean(0)
        model.classifier.bias.sub_((middle * 100).round() / 100)
    model.save_pretrained(folder)


def _tagger(
    name: str,
    family: str,
    tags: tuple[str, ...] = _BIO,
    aggregation: str = "",
    settings: dict[str, Any] | None = None,
    is_long: bool = False,
) -> Case:
    options = {"labels": {"aggregation": aggregation}} if aggregation else {}
    make = partial(_write, family, tags, settings or {})
    return Case(name, "token-classification", "entities", make, NAMES, options=options, is_long=is_long)


def _families() -> Cases:
    spaced, plain = {"add_prefix_space": True}, {"add_prefix_space": False}
    return [
        _tagger("tagger_bert", "bert"),
        _tagger("tagger_roberta_spaced", "roberta", settings=spaced),
        _tagger("tagger_roberta_plain", "roberta", settings=plain, is_long=True),
        _tagger("tagger_xlm_roberta", "xlm_roberta"),
        _tagger("tagger_deberta_v2", "deberta_v2", is_long=True),
        _tagger("tagger_albert", "albert", is_long=True),
        _tagger("tagger_modernbert", "modernbert", is_long=True),
        _tagger("tagger_mpnet", "mpnet", is_long=True),
        _tagger("tagger_camembert", "camembert", is_long=True),
        _tagger("tagger_cased", "bert", settings={"do_lower_case": False}, is_long=True),
        _tagger("tagger_accents_kept", "bert", settings={"strip_accents": False}, is_long=True),
    ]


def _aggregations() -> Cases:
    return [
        _tagger("tagger_mean", "electra", aggregation="mean"),
        _tagger("tagger_token", "bert", aggregation="token", is_long=True),
        _tagger("tagger_token_bpe", "roberta", aggregation="token", settings={"add_prefix_space": True}),
        _tagger("tagger_mean_unigram", "xlm_roberta", aggregation="mean", is_long=True),
        _tagger("tagger_plain_tags", "distilbert", _IO),
        _tagger("tagger_plain_tags_unigram", "deberta_v2", _IO, is_long=True),
    ]


def cases() -> Cases:
    """Of this module: BIO and plain tags, which are all that transformers reads. `test_tags` has the other schemes."""
    return [*_families(), *_aggregations()]
