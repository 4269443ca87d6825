"""A text's windows as one row of the encoder, and which window speaks for a token that several show.

Neighbouring windows share `overlap` tokens. The first half of a shared stretch belongs to the earlier window and the
second half to the later one, so that every token is judged where it has context on both sides, and only once.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

Array = npt.NDArray[Any]

MAX_WINDOWS = 64
"""Windows of one text; what lies behind them is cut, and the response says so."""

_NOBODYS = -1
_UNDECIDED_WORDS = 2


@dataclass(frozen=True)
class TokenizedRow:
    """One text (or pair) as the encoder takes it: its windows one after the other.

    `lengths` and `new_tokens` have one number a window; `spans` is INT32 [tokens, 3], see `tensors.SPANS`.
    """

    ids: list[int]
    type_ids: list[int]
    truncated_chars: int
    lengths: list[int]
    new_tokens: list[int]
    spans: Array = field(default_factory=lambda: np.empty((0, 3), dtype=np.int32))


def overlap_of(max_length: int) -> int:
    """Tokens that neighbouring windows share: a quarter of the longest row, less where that leaves no room."""
    return max(0, min(max_length // 4, max_length // 2 - 4))


def whole_row(encoding: Encoding, special_tokens: int) -> TokenizedRow:
    """A text that fits into one window, as a row without spans."""
    ids = encoding.ids
    return TokenizedRow(ids, encoding.type_ids, 0, [len(ids)], [len(ids) - special_tokens])


def join(windows: Sequence[Encoding], overlap: int, truncated_chars: int) -> TokenizedRow:
    """One text's windows as a row without spans."""
    contents = [sum(owner is not None for owner in window.sequence_ids) for window in windows[1:]]
    first = sum(owner is not None for owner in windows[0].sequence_ids)
    return TokenizedRow(
        [token for window in windows for token in window.ids],
        [kind for window in windows for kind in window.type_ids],
        truncated_chars,
        [len(window.ids) for window in windows],
        [first, *(count - overlap for count in contents)],
    )


def spans_of(
    windows: Sequence[Encoding], overlap: int, sequence: int, words: Iterable[Sequence[int | None]] | None = None
) -> Iterator[Array]:
    """For each window the spans of its own tokens of one sequence (0: the text, 1: the pair's second); else -1.

    `words` numbers the words of each window's tokens; the tokenizer's own words are taken without it.
    """
    numbered = (window.word_ids for window in windows) if words is None else words
    for index, (window, numbers) in enumerate(zip(windows, numbered, strict=True)):
        spans = np.full((len(window.ids), 3), _NOBODYS, dtype=np.int32)
        own = np.flatnonzero([owner == sequence for owner in window.sequence_ids])
        start = overlap - overlap // 2 if index else 0
        end = len(own) - (overlap // 2 if index + 1 < len(windows) else 0)
        own = own[start:end]
        groups = np.array([_NOBODYS if number is None else number for number in numbers], dtype=np.int32)
        spans[own, :2] = np.array(window.offsets, dtype=np.int32)[own]
        spans[own, 2] = groups[own]
        yield spans


def is_decided(kept: Encoding, rest: Sequence[Encoding], sequence: int, read_limit: int) -> bool:
    """Whether the tokens kept of a text are those of the whole text, though only its beginning was encoded.

    What follows can change the last word of what was encoded, the one before it (a pre-tokenizer looks ahead), and what
    may be the first half of an added token. A tokenizer without words decides nothing before the text's end.

    Args:
        kept: the last window that is kept.
        rest: the windows behind it.
        sequence: 0 for the text, 1 for a pair's second.
        read_limit: characters of the beginning, less the length of the longest added token.
    """
    behind = _words_of(rest[-1], sequence) if rest else []
    words = _words_of(kept, sequence)
    if not words or not behind or behind[-1] - words[-1] < _UNDECIDED_WORDS:
        return False
    return read_chars(kept, sequence) <= read_limit


def _words_of(encoding: Encoding, sequence: int) -> list[int]:
    owners = zip(encoding.word_ids, encoding.sequence_ids, strict=True)
    return [word for word, owner in owners if owner == sequence and word is not None]


def longest_added_token(tokenizer: Tokenizer) -> int:
    """Characters of the longest token that is found before anything else is done to a text."""
    return max((len(token.content) for token in tokenizer.get_added_tokens_decoder().values()), default=0)


def read_chars(encoding: Encoding, sequence: int) -> int:
    """How many characters of a sequence the tokens of an encoding cover, counted from its beginning."""
    owners = zip(encoding.offsets, encoding.sequence_ids, strict=True)
    return max((end for (_, end), owner in owners if owner == sequence), default=0)


def pad_rows(rows: Sequence[Sequence[int]], pad: int, data_type: type[np.integer[Any]] = np.int64) -> Array:
    """Rows of unequal length as one [rows, longest], filled with `pad`."""
    if len(rows) == 1:
        return np.array(rows, dtype=data_type)
    padded = np.full((len(rows), max(map(len, rows))), pad, dtype=data_type)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = row
    return padded


def pad_spans(rows: Sequence[Array]) -> Array:
    """Spans of unequal length as one INT32 [rows, longest, 3], filled with -1."""
    padded = np.full((len(rows), max(map(len, rows)), 3), _NOBODYS, dtype=np.int32)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = row
    return padded
