"""Texts and prompts to token ids: a row holds its text once for each prompt, each time as windows of their own."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Encoding, Tokenizer

from text_runtime.manifest import TokenizerFacts
from text_runtime.tensors import SCHEMA
from text_runtime.tokenizer import FILE_NAME
from text_runtime.windows import (
    MAX_WINDOWS,
    Array,
    TokenizedRow,
    is_decided,
    join,
    longest_added_token,
    overlap_of,
    read_chars,
    spans_of,
)

_CHARS_PER_TOKEN = 16
_LONGER = 8
"""So many times more of a text is read where its beginning does not decide its tokens: see `text_runtime.tokenizer`."""


class PromptTokenizer:
    """A release's tokenizer for information-extraction: prompt and text as a pair, of which only the text is cut."""

    def __init__(self, folder: Path, facts: TokenizerFacts) -> None:
        self._is_windowed = facts.long_text == "window"
        self._overlap = overlap_of(facts.max_length) if self._is_windowed else 0
        self._longest_prompt = facts.max_length // 2
        self._bare = Tokenizer.from_file(str(folder / FILE_NAME))
        self._bare.no_truncation()
        self._tokenizer = Tokenizer.from_file(str(folder / FILE_NAME))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(facts.max_length, stride=self._overlap, strategy="only_second")
        self._prefix_chars = _CHARS_PER_TOKEN * facts.max_length * (MAX_WINDOWS if self._is_windowed else 1)
        self._reach = longest_added_token(self._bare)

    def encode(self, texts: Sequence[str], prompts: Sequence[Sequence[str]]) -> list[TokenizedRow]:
        """Tokenize every text with each of its prompts. A text without prompts becomes a row of nobody's tokens.

        Raises:
            ValueError: a prompt is longer than half of a window.
        """
        asked = [[self._fitting(prompt) for prompt in row] or [""] for row in prompts]
        read = self._prefix_chars
        pairs = [(prompt, text[:read]) for text, row in zip(texts, asked, strict=True) for prompt in row]
        encodings = iter(self._tokenizer.encode_batch(pairs))
        rows = []
        for text, row, wanted in zip(texts, asked, prompts, strict=True):
            parts = [self._part(next(encodings), prompt, group, text) for group, prompt in enumerate(row)]
            rows.append(_joined(parts if wanted else [_unowned(parts[0])]))
        return rows

    def _fitting(self, prompt: str) -> str:
        """A prompt, which may fill half of a window: an option that was cut away would never be considered.

        Raises:
            ValueError: it is longer.
        """
        if len(prompt) > self._longest_prompt // 4:
            tokens = len(self._bare.encode(prompt, add_special_tokens=False).ids)
            if tokens > self._longest_prompt:
                problem = f"the prompt {prompt[:40]!r}… has {tokens} tokens, the model takes {self._longest_prompt}"
                raise ValueError(
                    f"input '{SCHEMA.name}': {problem}; ask for fewer options at a time, or in fewer words"
                )
        return prompt

    def _decided(self, encoding: Encoding, prompt: str, text: str) -> Encoding:
        """An encoding of so much of a text that the windows which are kept are those of the whole text."""
        read, count = self._prefix_chars, MAX_WINDOWS if self._is_windowed else 1
        while read < len(text):
            windows = [encoding, *encoding.overflowing]
            if len(windows) > count and is_decided(windows[count - 1], windows[count:], 1, read - self._reach):
                break
            read *= _LONGER
            encoding = self._tokenizer.encode(prompt, text[:read])
        return encoding

    def _part(self, encoding: Encoding, prompt: str, group: int, text: str) -> TokenizedRow:
        encoding = self._decided(encoding, prompt, text)
        windows = [encoding, *encoding.overflowing][: MAX_WINDOWS if self._is_windowed else 1]
        is_cut = len(windows) <= len(encoding.overflowing)
        cut = len(text) - read_chars(windows[-1], 1) if is_cut else 0
        row = join(windows, self._overlap, cut)
        spans = np.concatenate(list(spans_of(windows, self._overlap, 1)))
        spans[spans[:, 0] >= 0, 2] = group
        _add_prompt(spans, windows[0], prompt, group)
        return TokenizedRow(row.ids, row.type_ids, cut, row.lengths, row.new_tokens, spans)


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
