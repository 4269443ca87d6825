"""A text's windows as one row of the encoder, and which window speaks for a token that several show.

Neighbouring windows share `overlap` tokens. The first half of a shared stretch belongs to the earlier window and the
second half to the later one, so that every token is judged where it has context on both sides, and only once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
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
_LONGER = 8
"""So many times more of a text is read where its beginning does not decide its tokens."""


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


@dataclass(frozen=True)
class Beginning:
    """How much of a text is read at first, and when that is enough.

    `chars` are read first, of which those within `reach` of the end may begin an added token. `sequence` is 0 for the
    text and 1 for a pair's second.
    """

    chars: int
    reach: int
    sequence: int = 0

    def read_on(
        self,
        text: str,
        encoding: Encoding,
        is_enough: Callable[[Encoding, int], bool],
        encode: Callable[[str], Encoding],
    ) -> Encoding:
        """An encoding of so much of a text that what is kept of it is the whole text's.

        Args:
            text: the whole text.
            encoding: of its first `chars`.
            is_enough: whether an encoding decides what is kept, given how many characters it may be trusted for.
            encode: encodes a longer beginning.
        """
        read = self.chars
        while read < len(text) and not is_enough(encoding, read - self.reach):
            read *= _LONGER
            encoding = encode(text[:read])
        return encoding

    def has_windows(self, encoding: Encoding, count: int, read_limit: int) -> bool:
        """Whether the first `count` windows of an encoding are those of the whole text. See `_is_decided`."""
        windows = [encoding, *encoding.overflowing]
        if len(windows) <= count:
            return False
        kept, last = (_words_of(windows[place], self.sequence) for place in (count - 1, -1))
        return _is_decided(kept, last) and read_chars(windows[count - 1], self.sequence) <= read_limit


def has_tokens(encoding: Encoding, count: int, read_limit: int) -> bool:
    """Whether the first `count` tokens of an encoding that was not cut are those of the whole text.

    It has no special tokens. See `_is_decided`; the last stretch of `count` tokens stands for the last window.
    """
    words = encoding.word_ids
    last = (len(words) - 1) // count * count
    kept, behind = ([word for word in part if word is not None] for part in (words[:count], words[last:]))
    is_read = max((end for _, end in encoding.offsets[:count]), default=0) <= read_limit
    return last > 0 and _is_decided(kept, behind) and is_read


def _is_decided(kept: Sequence[int], behind: Sequence[int]) -> bool:
    """Whether the tokens kept of a text are those of the whole text, though only its beginning was encoded.

    What follows can change the last word of what was encoded, the one before it (a pre-tokenizer looks ahead), and what
    may be the first half of an added token. A tokenizer without words decides nothing before the text's end.

    Args:
        kept: the words of the last window that is kept.
        behind: the words of the last window of all.
    """
    return bool(kept) and bool(behind) and behind[-1] - kept[-1] >= _UNDECIDED_WORDS


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
