"""The WordPiece vocabulary: one token for each common Chinese character, mark and Latin word of the texts.

PaddleNLP's tokenizer sets every Chinese character apart before it looks for pieces, so the Chinese part is a
list of characters. Latin words and digits, which it does not set apart, are covered by their single characters
(alone and as `##` continuations), so that hardly any text needs `[UNK]`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddlenlp.transformers import ErnieTokenizer

SPECIAL_TOKENS = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]")
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
PAD_ID, CLS_ID, SEP_ID, MASK_ID, UNK_ID = range(len(SPECIAL_TOKENS))


def count_words(texts: Iterable[str]) -> Counter[str]:
    """How often each word of PaddleNLP's basic tokenizer (a Chinese character, a mark, a Latin word) occurs."""
    from paddlenlp.transformers import BasicTokenizer

    tokenizer = BasicTokenizer(do_lower_case=True)
    return Counter(word for text in texts for word in tokenizer.tokenize(text))


def build_vocabulary(reviews: Counter[str], newspaper: Counter[str], size: int) -> list[str]:
    """At most `size` tokens: the special ones, the alphabet, the reviews' words, then the newspaper's characters."""
    words = [word for word, count in reviews.most_common() if count >= _least_count(word)]
    characters = [word for word, count in newspaper.most_common() if len(word) == 1 and count >= 3]
    pieces = [piece for letter in ALPHABET for piece in (letter, f"##{letter}")]
    tokens = dict.fromkeys([*SPECIAL_TOKENS, *pieces, *words, *characters])
    return list(tokens)[:size]


def write_tokenizer(vocabulary: list[str], folder: Path, max_length: int) -> ErnieTokenizer:
    """Write `vocab.txt` and the tokenizer's settings into `folder`, and return the tokenizer that reads them."""
    from paddlenlp.transformers import ErnieTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "vocab.txt"
    file.write_text("".join(f"{token}\n" for token in vocabulary), encoding="utf-8")
    tokenizer = ErnieTokenizer(str(file), do_lower_case=True, model_max_length=max_length)
    tokenizer.save_pretrained(str(folder))
    return tokenizer


def encode(tokenizer: ErnieTokenizer, texts: Iterable[str]) -> list[list[int]]:
    """Token ids of each text, whole and without `[CLS]` and `[SEP]`."""
    return [tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text)) for text in texts]


def _least_count(word: str) -> int:
    return 2 if len(word) == 1 else 8
