"""Texts to token ids, in one batched call for all the rows of an execution."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from tokenizers import Encoding, Tokenizer

from text_runtime.facts import TokenizerFacts
from text_runtime.tokenizers.windows import (
    MAX_WINDOWS,
    Beginning,
    TokenizedRow,
    has_tokens,
    join,
    longest_added_token,
    overlap_of,
    pad_rows,
    read_chars,
    spans_of,
    whole_row,
)
from text_runtime.tokenizers.words import WordFinder

__all__ = ["FILE_NAME", "TextTokenizer", "TokenizedRow", "pad_rows"]

# A pool of threads for a batch of a few texts costs more than it saves, and its cores are the encoder's.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

FILE_NAME = "tokenizer.json"

# Of a text far longer than the model reads only the beginning is tokenized, so that one huge text cannot hold up its
# neighbours. Sixteen characters a token is far above any language. Where the beginning does not decide the tokens that
# are kept (blanks that a tokenizer drops, a word without an end), more of the text is taken, up to all of it.
_PREFIX_CHARS_PER_TOKEN = 16
# All windows together read a text to its end or to this many characters a token, which few languages pass.
_WINDOW_CHARS_PER_TOKEN = 5


class TextTokenizer:
    """A release's tokenizer: `tokenizer.json`, rows cut at the release's `max_length` or continued in windows.

    Args:
        folder: the tokenizer step's release.
        facts: from the release's manifest.
        has_spans: whether rows carry their tokens' characters and words.
    """

    def __init__(self, folder: Path, facts: TokenizerFacts, has_spans: bool = False) -> None:
        self._is_windowed = facts.long_text == "window"
        self._overlap = overlap_of(facts.max_length) if self._is_windowed else 0
        self._preparation = facts.preparation
        self._tokenizer = Tokenizer.from_file(str(folder / FILE_NAME))
        self._tokenizer.no_padding()
        # Windows follow each other from the beginning, whichever end would be cut of a text that is read as one.
        self._side = "right" if self._is_windowed else facts.truncation_side
        self._tokenizer.enable_truncation(facts.max_length, stride=self._overlap, direction=self._side)
        self._odd_token = facts.odd_token
        self._untruncated = Tokenizer.from_file(str(folder / FILE_NAME))
        self._untruncated.no_padding()
        self._untruncated.no_truncation()
        self._words = WordFinder(self._untruncated) if has_spans else None
        self._special_tokens = self._untruncated.num_special_tokens_to_add(is_pair=False)
        self._pair_room = facts.max_length - self._untruncated.num_special_tokens_to_add(is_pair=True)
        self._prefix_chars = facts.max_length * (
            _WINDOW_CHARS_PER_TOKEN * MAX_WINDOWS if self._is_windowed else _PREFIX_CHARS_PER_TOKEN
        )
        if self._side == "left":  # the end is kept, so the whole text must be read
            self._prefix_chars = sys.maxsize
        self._beginning = Beginning(self._prefix_chars, longest_added_token(self._untruncated))

    def encode(
        self,
        texts: Sequence[str],
        pairs: Sequence[str] | None = None,
        prompts: Sequence[str | None] | None = None,
    ) -> list[TokenizedRow]:
        """Tokenize every text, with its pair where there are pairs. Rows come back in the order given.

        `prompts` has for each text what stands in front of it; None takes the release's own.
        """
        if not self._preparation.changes_texts and prompts is None:
            return self._encode(texts, pairs)
        chosen = prompts or [None] * len(texts)
        prepared = [self._preparation.apply(text, prompt) for text, prompt in zip(texts, chosen, strict=True)]
        rows = self._encode(prepared, pairs)
        is_left = self._side == "left"
        unread = [
            self._preparation.unread_chars(text, row.truncated_chars, is_left)
            for text, row in zip(texts, rows, strict=True)
        ]
        return [replace(row, truncated_chars=count) for row, count in zip(rows, unread, strict=True)]

    def _encode(self, texts: Sequence[str], pairs: Sequence[str] | None) -> list[TokenizedRow]:
        prefixes = [text[: self._prefix_chars] for text in texts]
        if pairs is not None:
            seconds = [pair[: self._prefix_chars] for pair in pairs]
            return self._pairs(list(zip(prefixes, seconds, strict=True)), list(zip(texts, pairs, strict=True)))
        if not (self._is_windowed or self._words):
            return self._without_offsets(prefixes, texts)
        encodings = self._tokenizer.encode_batch(prefixes)
        make = self._windows if self._is_windowed else self._row
        return [make(encoding, text) for encoding, text in zip(encodings, texts, strict=True)]

    def _without_offsets(self, prefixes: Sequence[str], texts: Sequence[str]) -> list[TokenizedRow]:
        """The fast call gives no offsets; only the rows that were cut need them, and those are encoded again."""
        rows = []
        for encoding, prefix, text in zip(self._tokenizer.encode_batch_fast(prefixes), prefixes, texts, strict=True):
            if encoding.overflowing or len(prefix) < len(text):
                rows.append(self._row(self._tokenizer.encode(prefix), text))
            else:
                rows.append(whole_row(encoding, self._special_tokens))
        return rows

    def _row(self, encoding: Encoding, text: str) -> TokenizedRow:
        encoding = self._decided(encoding, text, 1)
        cut = self._unread_chars(encoding, text) if encoding.overflowing else 0
        return self._with_spans(join([encoding], 0, cut), [encoding], text)

    def _decided(self, encoding: Encoding, text: str, count: int) -> Encoding:
        """An encoding of so much of a text that its first `count` windows are those of the whole text."""
        return self._beginning.read_on(
            text,
            encoding,
            lambda read, limit: self._beginning.has_windows(read, count, limit),
            self._tokenizer.encode,
        )

    def _unread_chars(self, encoding: Encoding, text: str) -> int:
        if self._side == "left":
            owners = zip(encoding.offsets, encoding.sequence_ids, strict=True)
            return min((start for (start, _), owner in owners if owner is not None), default=len(text))
        return len(text) - read_chars(encoding, 0)

    def _windows(self, encoding: Encoding, text: str) -> TokenizedRow:
        encoding = self._decided(encoding, text, MAX_WINDOWS)
        windows = [encoding, *encoding.overflowing]
        is_cut = len(windows) > MAX_WINDOWS
        windows = windows[:MAX_WINDOWS]
        cut = len(text) - read_chars(windows[-1], 0) if is_cut else 0
        return self._with_spans(join(windows, self._overlap, cut), windows, text)

    def _pairs(self, prefixes: Sequence[tuple[str, str]], wholes: Sequence[tuple[str, str]]) -> list[TokenizedRow]:
        """Rows of two texts. The library's own truncation of pairs halves an odd room the other way round."""
        flat = [text for pair in prefixes for text in pair]
        encodings = self._untruncated.encode_batch(flat, add_special_tokens=False)
        texts = (text for pair in wholes for text in pair)
        halves = iter([self._half(encoding, text) for encoding, text in zip(encodings, texts, strict=True)])
        return [self._pair(next(halves), next(halves), whole) for whole in wholes]

    def _half(self, encoding: Encoding, text: str) -> Encoding:
        """One text of a pair, encoded so far that all the tokens for which there may be room are the whole text's."""
        return self._beginning.read_on(
            text,
            encoding,
            lambda read, limit: has_tokens(read, max(1, self._pair_room), limit),
            lambda more: self._untruncated.encode(more, add_special_tokens=False),
        )

    def _pair(self, first: Encoding, second: Encoding, whole: tuple[str, str]) -> TokenizedRow:
        kept = pair_lengths(*self._lengths(first, second, whole), self._pair_room, self._odd_token)
        first.truncate(kept[0], direction=self._side)
        second.truncate(kept[1], direction=self._side)
        encoding = self._untruncated.post_process(first, second)
        halves = zip((first, second), whole, strict=True)
        unread = [self._unread_chars(part, text) if part.overflowing else 0 for part, text in halves]
        return join([encoding], 0, sum(unread))

    def _lengths(self, first: Encoding, second: Encoding, whole: tuple[str, str]) -> tuple[int, int]:
        """Tokens of both texts of a pair; both are read to their ends where the longer one gets an odd token."""
        found = len(first.ids), len(second.ids)
        is_told = self._odd_token != "longer" or self._pair_room % 2 == 0 or min(found) <= self._pair_room // 2
        if is_told or all(len(text) <= self._prefix_chars for text in whole):
            return found
        encodings = self._untruncated.encode_batch(list(whole), add_special_tokens=False)
        return len(encodings[0].ids), len(encodings[1].ids)

    def _with_spans(self, row: TokenizedRow, windows: Sequence[Encoding], text: str) -> TokenizedRow:
        if self._words is None:
            return row
        words = self._words.words(windows, text)
        return replace(row, spans=np.concatenate(list(spans_of(windows, self._overlap, 0, words))))


def pair_lengths(first: int, second: int, room: int, odd_token: str) -> tuple[int, int]:
    """How many tokens of each half of a pair stay: the longer one is cut first, then both alike.

    Where both are cut and the room is odd, one gets one more: see `TokenizerFacts.odd_token`.
    """
    if odd_token == "longer" and second >= first:
        kept_first = min(first, max(room - second, room // 2))
        return kept_first, min(second, room - kept_first)
    kept_second = min(second, max(room - first, room // 2))
    return min(first, room - kept_second), kept_second
