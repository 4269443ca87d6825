"""Which tokens make one word, as transformers' token-classification pipeline groups them, with one difference.

A WordPiece tokenizer knows its words. Any other cuts pieces that tell nothing of words, and there the pipeline goes by
blanks: a piece begins a word at the start of the text and beside a blank, and an unknown piece always does. A sentence
of a script that is written without blanks would be one word, tagged by its first piece: here each of its pieces is one.
"""

import re
from collections.abc import Iterator, Sequence

from tokenizers import Encoding, Tokenizer

# Han with its radicals and extensions, Kana, Bopomofo, Thai, Lao, Tibetan, Burmese, Khmer, Yi, and full-width forms.
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3001-\u3029\u3031-\u312f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff\uff00-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff]"
)
_SAME_START = 64
"""More pieces than begin with one character and are words of their own."""


class WordFinder:
    """Finds the words of a tokenizer's encodings."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._is_word_aware = bool(getattr(tokenizer.model, "continuing_subword_prefix", None))
        unknown = getattr(tokenizer.model, "unk_token", None)
        self._unknown = tokenizer.token_to_id(unknown) if unknown else _unknown_id(tokenizer)

    def words(self, windows: Sequence[Encoding], text: str) -> Iterator[list[int | None]]:
        """For each window of a text a number for each token, the same for tokens of one word; None for special tokens.

        A word has the same number in every window that shows it.
        """
        if self._is_word_aware:
            yield from (window.word_ids for window in windows)
            return
        known: dict[int, int] = {}
        for window in windows:
            found = list(self._numbers(window, text, known))
            known = {
                start: number for (start, _), number in zip(window.offsets, found, strict=True) if number is not None
            }
            yield found

    def _numbers(self, window: Encoding, text: str, known: dict[int, int]) -> Iterator[int | None]:
        """A word's number tells where it begins, and how many words have begun there before."""
        current, end = -1, 0
        tokens = zip(window.ids, window.offsets, window.sequence_ids, strict=True)
        for token, (start, stop), owner in tokens:
            if owner is None:
                yield None
                continue
            if current < 0 and start in known:
                current = known[start]
            elif token == self._unknown or current < 0 or _begins_word(text, start, end):
                current = current + 1 if current // _SAME_START == start else start * _SAME_START
            end = stop
            yield current


def _begins_word(text: str, start: int, end: int) -> bool:
    """Whether a piece that begins with the character at `start`, behind one that ends before `end`, begins a word."""
    if start == 0 or " " in text[start - 1 : start + 1]:
        return True
    return start >= end and _WITHOUT_BLANKS.search(text, start - 1, start + 1) is not None


def _unknown_id(tokenizer: Tokenizer) -> int | None:
    """Unigram's, which the library keeps to itself, or an added token's, which byte-level BPE never gives by itself."""
    match = re.search(r'"unk_id":\s*(\d+)', tokenizer.to_str())
    known = (tokenizer.token_to_id(name) for name in ("<unk>", "[UNK]"))
    return int(match[1]) if match else next((index for index in known if index is not None), None)
