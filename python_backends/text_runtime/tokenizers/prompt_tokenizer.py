"""Texts and prompts to token ids: a row holds its text once for each prompt, each time as windows of their own."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Encoding, Tokenizer

from text_runtime.facts import TokenizerFacts
from text_runtime.tasks.schema import ANSWER_END
from text_runtime.tensors import SCHEMA
from text_runtime.tokenizers.tokenizer import FILE_NAME
from text_runtime.tokenizers.windows import (
    MAX_WINDOWS,
    Array,
    Beginning,
    TokenizedRow,
    join,
    longest_added_token,
    overlap_of,
    read_chars,
    spans_of,
)

_CHARS_PER_TOKEN = 16
_MOST_TOKENS_OF_A_CHARACTER = 18
"""A ligature of Arabic comes apart into eighteen letters; no character makes more."""


class PromptTokenizer:
    """A release's tokenizer for information-extraction: prompt and text as a pair, of which only the text is cut."""

    def __init__(self, folder: Path, facts: TokenizerFacts) -> None:
        is_windowed = facts.long_text == "window"
        self._most_windows = MAX_WINDOWS if is_windowed else 1
        self._overlap = overlap_of(facts.max_length) if is_windowed else 0
        self._bare = Tokenizer.from_file(str(folder / FILE_NAME))
        self._bare.no_padding()
        self._bare.no_truncation()
        self._tokenizer = Tokenizer.from_file(str(folder / FILE_NAME))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(facts.max_length, stride=self._overlap, strategy="only_second")
        self._prefix_chars = _CHARS_PER_TOKEN * facts.max_length * self._most_windows
        self._beginning = Beginning(self._prefix_chars, longest_added_token(self._bare), sequence=1)
        special: int = self._tokenizer.num_special_tokens_to_add(is_pair=True)
        self._longest_prompt = facts.max_length - special - self._overlap - 1

    def encode(self, texts: Sequence[str], prompts: Sequence[Sequence[str]]) -> list[TokenizedRow]:
        """Tokenize every text with each of its prompts. A text without prompts becomes a row of nobody's tokens.

        Raises:
            ValueError: a prompt leaves no room for a text; the message says how long it is and how long it may be.
        """
        asked = [[self.readable_prompt(prompt) for prompt in row] or [""] for row in prompts]
        pairs = [(prompt, text[: self._prefix_chars]) for text, row in zip(texts, asked, strict=True) for prompt in row]
        encodings = iter(self._tokenizer.encode_batch(pairs))
        rows = []
        for text, row, wanted in zip(texts, asked, prompts, strict=True):
            parts = [self._part(next(encodings), prompt, group, text) for group, prompt in enumerate(row)]
            rows.append(_joined(parts if wanted else [_unowned(parts[0])]))
        return rows

    def readable_prompt(self, prompt: str) -> str:
        """A prompt as the model gets it: whole, but for the beginning of an answer that became a prompt.

        Such an answer ends with `ANSWER_END`; where it is too long, its end and what is asked about it stay.

        Raises:
            ValueError: what is asked is too long by itself; the message says how long it is and how long it may be.
        """
        answer, _, name = prompt.rpartition(ANSWER_END)
        whole = answer + name
        while excess := self._excess(whole):
            encoding = self._bare.encode(whole, add_special_tokens=False)
            whole = whole[max(1, encoding.offsets[excess][0]) :]
            if len(whole) < len(name):
                raise ValueError(self._refusal(name))
        return whole

    def _excess(self, prompt: str) -> int:
        """Tokens of a prompt for which there is no room."""
        if len(prompt) * _MOST_TOKENS_OF_A_CHARACTER <= self._longest_prompt:
            return 0
        return max(0, self._count(prompt) - self._longest_prompt)

    def _count(self, prompt: str) -> int:
        return len(self._bare.encode(prompt, add_special_tokens=False).ids)

    def _refusal(self, name: str) -> str:
        count, limit = self._count(name), self._longest_prompt
        problem = f"'{name[:20]}…' has {count} tokens, and the model reads at most {limit} of a name"
        return f"input '{SCHEMA.name}': {problem}; ask fewer options"

    def _part(self, encoding: Encoding, prompt: str, group: int, text: str) -> TokenizedRow:
        encoding = self._decided(encoding, prompt, text)
        windows = self._kept(encoding)
        cut = len(text) - read_chars(windows[-1], 1) if len(windows) <= len(encoding.overflowing) else 0
        row = join(windows, self._overlap, cut)
        spans = np.concatenate(list(spans_of(windows, self._overlap, 1)))
        spans[spans[:, 0] >= 0, 2] = group
        _add_prompt(spans, windows[0], prompt, group)
        return TokenizedRow(row.ids, row.type_ids, cut, row.lengths, row.new_tokens, spans)

    def _kept(self, encoding: Encoding) -> list[Encoding]:
        return [encoding, *encoding.overflowing][: self._most_windows]

    def _decided(self, encoding: Encoding, prompt: str, text: str) -> Encoding:
        """Read on, until the rest of the text can change none of the tokens that are kept."""
        return self._beginning.read_on(
            text,
            encoding,
            lambda read, limit: self._beginning.has_windows(read, self._most_windows, limit),
            lambda more: self._tokenizer.encode(prompt, more),
        )


def _add_prompt(spans: Array, window: Encoding, prompt: str, group: int) -> None:
    """The prompt's own characters count backwards from -1, the blank between prompt and text."""
    for token, (owner, (start, end)) in enumerate(zip(window.sequence_ids, window.offsets, strict=True)):
        if owner == 0:
            spans[token] = (start - len(prompt) - 1, end - len(prompt) - 1, group)


def _joined(parts: Sequence[TokenizedRow]) -> TokenizedRow:
    return TokenizedRow(
        [token for part in parts for token in part.ids],
        [kind for part in parts for kind in part.type_ids],
        max(part.truncated_chars for part in parts),
        [length for part in parts for length in part.lengths],
        [count for part in parts for count in part.new_tokens],
        np.concatenate([part.spans for part in parts]),
    )


def _unowned(row: TokenizedRow) -> TokenizedRow:
    return TokenizedRow(row.ids, row.type_ids, row.truncated_chars, row.lengths, row.new_tokens, row.spans * 0 - 1)
