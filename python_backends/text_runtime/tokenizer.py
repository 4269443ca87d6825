"""Texts to token ids, in one batched call for all the rows of an execution."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from text_runtime.manifest import TokenizerFacts

# A pool of threads for a batch of a few texts costs more than it saves, and its cores are the encoder's.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

FILE_NAME = "tokenizer.json"

# A text far longer than the model reads is cut before it is tokenized, so that one huge text cannot hold up its
# neighbours. Sixteen characters a token is far above any language; the margin is twice WordPiece's longest word.
_PREFIX_CHARS_PER_TOKEN = 16
_PREFIX_MARGIN_CHARS = 200


@dataclass(frozen=True)
class TokenizedRow:
    """One text (or pair) as the encoder takes it."""

    ids: list[int]
    type_ids: list[int]
    truncated_chars: int


class TextTokenizer:
    """A release's tokenizer: `tokenizer.json` with truncation to the release's `max_length`."""

    def __init__(self, folder: Path, facts: TokenizerFacts) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / FILE_NAME))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(facts.max_length, direction=facts.truncation_side)
        self._is_odd_token_first = facts.odd_token == "first"
        is_end_kept = facts.truncation_side == "left"
        self._prefix_chars = sys.maxsize if is_end_kept else _PREFIX_CHARS_PER_TOKEN * facts.max_length

    def encode(self, texts: Sequence[str], pairs: Sequence[str] | None = None) -> list[TokenizedRow]:
        """Tokenize every text, with its pair where there are pairs. Rows come back in the order given."""
        prefixes = [text[: self._prefix_chars] for text in texts]
        second = [pair[: self._prefix_chars] for pair in pairs] if pairs is not None else None
        encodings = self._tokenizer.encode_batch(
            prefixes if second is None else list(zip(prefixes, second, strict=True))
        )
        wholes = [(text,) if pairs is None else (text, pairs[index]) for index, text in enumerate(texts)]
        return [self._row(encoding, whole) for encoding, whole in zip(encodings, wholes, strict=True)]

    def _row(self, encoding: Encoding, whole: tuple[str, ...]) -> TokenizedRow:
        if any(len(text) > self._prefix_chars for text in whole) and not self._is_prefix_enough(encoding, whole):
            encoding = self._tokenizer.encode(*whole)
        cut = _truncated_chars(encoding, whole) if encoding.overflowing else 0
        if self._is_odd_token_first and len(whole) == 2 and encoding.overflowing:
            encoding = self._with_odd_token_first(encoding, whole)
        return TokenizedRow(encoding.ids, encoding.type_ids, cut)

    def _with_odd_token_first(self, encoding: Encoding, whole: tuple[str, ...]) -> Encoding:
        """Move the token that the library gave to the second text to the first, where both were cut."""
        first_kept, second_kept = (encoding.sequence_ids.count(sequence) for sequence in (0, 1))
        first, second = (self._tokenizer.encode(text, add_special_tokens=False) for text in whole)
        if second_kept != first_kept + 1 or len(first.ids) == first_kept:
            return encoding
        direction = self._tokenizer.truncation["direction"]
        first.truncate(first_kept + 1, direction=direction)
        second.truncate(second_kept - 1, direction=direction)
        return self._tokenizer.post_process(first, second)

    def _is_prefix_enough(self, encoding: Encoding, whole: tuple[str, ...]) -> bool:
        """Whether the rest of the text cannot change the tokens kept: the last of them ends well before the cut."""
        ends = [_read_chars(encoding, sequence) for sequence in range(len(whole))]
        limit = self._prefix_chars - _PREFIX_MARGIN_CHARS
        return all(len(text) <= self._prefix_chars or end < limit for text, end in zip(whole, ends, strict=True))


def _truncated_chars(encoding: Encoding, whole: tuple[str, ...]) -> int:
    return sum(len(text) - _read_chars(encoding, sequence) for sequence, text in enumerate(whole))


def _read_chars(encoding: Encoding, sequence: int) -> int:
    owners = zip(encoding.offsets, encoding.sequence_ids, strict=True)
    return max((end for (_, end), owner in owners if owner == sequence), default=0)


def pad_rows(rows: Sequence[Sequence[int]], pad: int) -> npt.NDArray[Any]:
    """Rows of unequal length as one INT64 [rows, longest], filled with `pad`."""
    padded = np.full((len(rows), max(map(len, rows))), pad, dtype=np.int64)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = row
    return padded
