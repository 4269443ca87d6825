"""The half of a source that its tokenizer answers, the same for every kind of source."""

from collections.abc import Sequence
from pathlib import Path

from converters.sources.base import Array, Offsets, SourceTokenizer, TokenIds


class TokenizedSource:
    """Encodes with the source's own tokenizer. See `SourceModel`."""

    def __init__(self, tokenizer: SourceTokenizer) -> None:
        self._tokenizer = tokenizer
        self.traits = tokenizer.traits

    def tokenize(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> list[TokenIds]:
        """See `SourceModel`."""
        return self._tokenizer.encode(texts, pairs, max_length)

    def token_offsets(self, texts: Sequence[str], max_length: int) -> list[Offsets]:
        """See `SourceModel`."""
        return self._tokenizer.offsets(texts, max_length)

    def write_tokenizer(self, path: Path) -> None:
        """See `SourceModel`."""
        self._tokenizer.write(path)

    def answer(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> Array | None:
        """See `SourceModel`."""
        return None
