"""PaddleNLP's Python tokenizers: the truth as they are, and the `tokenizer.json` that should equal them."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from converters.sources.base import Offsets, TokenIds, TokenizerTraits
from converters.token_rows import highest_of
from converters.tokenizers import settings
from converters.tokenizers.bpe import write_byte_bpe
from converters.tokenizers.unigram import write_albert, write_xlm_roberta
from converters.tokenizers.wordpiece import write_wordpiece
from trireme.errors import GateError


class PaddleNlpTokenizer:
    """See `SourceTokenizer`."""

    def __init__(self, tokenizer: Any, folder: Path) -> None:
        self._tokenizer = tokenizer
        inner = tokenizer.tokenizer if hasattr(tokenizer, "tokenizer") else tokenizer  # ALBERT's is one of two
        self.traits = TokenizerTraits(
            pad_token_id=settings.pad_token_id(folder, tokenizer.pad_token_id),
            longest=settings.longest(folder, tokenizer.model_max_length),
            truncation_side=settings.truncation_side(folder, tokenizer.truncation_side),
            odd_token="first",
            special_tokens=tuple(tokenizer.all_special_tokens),
            highest_token=highest_of(inner.get_vocab()),
        )

    def encode(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> list[TokenIds]:
        """See `SourceTokenizer`."""
        second = [None] * len(texts) if pairs is None else pairs
        with _unwarned():
            return [self._encode(text, pair, max_length) for text, pair in zip(texts, second, strict=True)]

    def offsets(self, texts: Sequence[str], max_length: int) -> list[Offsets]:
        """See `SourceTokenizer`.

        PaddleNLP finds a token's characters by searching the text for the token. From the first unknown token on it
        searches for `[UNK]` itself and gets lost, or fails: what follows is not what the source says, but an accident.
        So are the offsets of tokens that are parts of a character's bytes: only WordPiece's are told.
        """
        if not hasattr(self._tokenizer, "basic_tokenizer"):
            return [[] for _ in texts]
        with _unwarned():
            return [self._offsets(text, max_length) for text in texts]

    def write(self, path: Path) -> None:
        """See `SourceTokenizer`.

        Raises:
            GateError: no `tokenizer.json` can express this tokenizer.
        """
        names = [kind.__name__ for kind in type(self._tokenizer).__mro__]
        writer = next((_WRITERS[name] for name in names if name in _WRITERS), None)
        if writer is None:
            raise GateError("tokens", f"no tokenizer.json is known that encodes as PaddleNLP's {names[0]} does")
        writer(self._tokenizer, path)

    def _encode(self, text: str, pair: str | None, max_length: int) -> TokenIds:
        row = self._tokenizer(text, pair, max_length=max_length, truncation=True, return_attention_mask=False)
        ids = list(row["input_ids"])
        return TokenIds(ids, list(row.get("token_type_ids") or [0] * len(ids)))

    def _offsets(self, text: str, max_length: int) -> Offsets:
        try:
            row = self._tokenizer(text, max_length=max_length, truncation=True, return_offsets_mapping=True)
        except (IndexError, ValueError, NotImplementedError):
            return []
        ids = row["input_ids"]
        unknown = self._tokenizer.unk_token_id
        known = ids.index(unknown) if unknown in ids else len(ids)
        special = set(self._tokenizer.all_special_ids)
        return [
            None if token in special else (int(start), int(end))
            for token, (start, end) in zip(ids[:known], row["offset_mapping"], strict=False)
        ]


@contextmanager
def _unwarned() -> Iterator[None]:
    """PaddleNLP warns on stderr of each text that it cuts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "BertTokenizer": write_wordpiece,
    "ErnieTokenizer": write_wordpiece,
    "ElectraTokenizer": write_wordpiece,
    "RobertaChineseTokenizer": write_wordpiece,
    "RobertaBPETokenizer": write_byte_bpe,
    "XLMRobertaTokenizer": write_xlm_roberta,
    "AlbertEnglishTokenizer": write_albert,
    "AlbertTokenizer": write_albert,
}
