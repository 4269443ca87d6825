"""A tokenizer of each kind, as the library saves it, with what it makes of strings by chance: kept beside the tests."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import transformers
from strings import any_string

from . import vocabularies as kinds
from .vocabularies import Writer

_COUNT = 60
_LENGTHS = (64, 16, 9)
_KINDS: dict[str, tuple[Writer, dict[str, Any]]] = {
    "wordpiece": (kinds.write_wordpiece, {}),
    "wordpiece_cased": (kinds.write_wordpiece, {"do_lower_case": False}),
    "wordpiece_accents": (kinds.write_wordpiece, {"strip_accents": False}),
    "wordpiece_left": (kinds.write_wordpiece, {"truncation_side": "left"}),
    "byte_bpe": (kinds.write_bpe, {}),
    "byte_bpe_spaced": (kinds.write_bpe, {"add_prefix_space": True}),
    "plain_bpe": (kinds.write_plain_bpe, {}),
    "unigram": (kinds.write_unigram, {}),
    "unigram_types": (kinds.write_bert_unigram, {}),
}


def write_tokens(folder: Path) -> None:
    """Write `NAME/tokenizer.json` and `NAME.json` for each kind."""
    for name, (write, settings) in _KINDS.items():
        made = folder / name
        shutil.rmtree(made, ignore_errors=True)
        write(made, **settings)
        tokenizer = transformers.AutoTokenizer.from_pretrained(made)
        values = {
            "side": tokenizer.truncation_side,
            "pad": tokenizer.pad_token_id,
            "batches": _batches(name, tokenizer),
        }
        shutil.rmtree(made)
        made.mkdir(parents=True)
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.save(str(made / "tokenizer.json"), pretty=False)
        text = json.dumps(values, ensure_ascii=True, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _batches(name: str, tokenizer: Any) -> list[dict[str, Any]]:
    """For each length strings by chance, alone and in pairs."""
    chance, specials = random.Random(name), [str(word) for word in tokenizer.all_special_tokens]
    found = []
    for length in _LENGTHS:
        texts = [any_string(chance, specials)[:200] for _ in range(_COUNT // len(_LENGTHS))]
        pairs = [*texts[1:], texts[0]]
        asked = {"truncation": True, "max_length": length, "return_token_type_ids": True}
        alone = tokenizer(texts, return_offsets_mapping=True, **asked)
        both = tokenizer(texts, pairs, **asked)
        offsets = [
            [None if owner is None else span for span, owner in zip(spans, alone.sequence_ids(row), strict=True)]
            for row, spans in enumerate(alone["offset_mapping"])
        ]
        single = {"ids": alone["input_ids"], "offsets": offsets}
        double = {"ids": both["input_ids"], "types": both["token_type_ids"]}
        found.append({"length": length, "texts": texts, "alone": single, "pairs": double})
    return found
