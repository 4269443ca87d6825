"""Texts and prompts to token ids: a row holds its text once for each prompt, each time as windows of their own."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tokenizers import Encoding, Tokenizer

from text_runtime.manifest import TokenizerFacts
from text_runtime.tokenizer import FILE_NAME
from text_runtime.windows import (
    MAX_WINDOWS,
    Array,
    TokenizedRow,
    join,
    overlap_of,
    read_chars,
    spans_of,
)

_CHARS_PER_TOKEN = 16


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
        self._prefix_chars = _CHARS_PER_TOKEN * facts.max_length

    def encode(self, texts: Sequence[str], prompts: Sequence[Sequence[str]]) -> list[TokenizedRow]:
        """Tokenize every text with each of its prompts. A text without prompts becomes a row of nobody's tokens."""
        asked = [[self._shortened(prompt) for prompt in row] or [""] for row in prompts]
        pairs = [(prompt, self._readable(text)) for text, row in zip(texts, asked, strict=True) for prompt in row]
        encodings = iter(self._tokenizer.encode_batch(pairs))
        rows = []
        for text, row, wanted in zip(texts, asked, prompts, strict=True):
            parts = [self._part(next(encodings), prompt, group, text) for group, prompt in enumerate(row)]
            rows.append(_joined(parts if wanted else [_unowned(parts[0])]))
        return rows

    def _readable(self, text: str) -> str:
        return text[: self._prefix_chars * (MAX_WINDOWS if self._is_windowed else 1)]

    def _shortened(self, prompt: str) -> str:
        """A prompt may fill half of a window. Only an answer that became a prompt is ever longer."""
        if len(prompt) <= self._longest_prompt // 4:
            return prompt
        encoding = self._bare.encode(prompt, add_special_tokens=False)
        if len(encoding.ids) <= self._longest_prompt:
            return prompt
        return prompt[: encoding.offsets[self._longest_prompt - 1][1]]

    def _part(self, encoding: Encoding, prompt: str, group: int, text: str) -> TokenizedRow:
        windows = [encoding, *encoding.overflowing][: MAX_WINDOWS if self._is_windowed else 1]
        is_cut = len(self._readable(text)) < len(text) or len(windows) <= len(encoding.overflowing)
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
