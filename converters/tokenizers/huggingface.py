"""A Hugging Face folder's own `tokenizer.json`: taken as it is, it is the truth as well as what is served."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Encoding, Tokenizer

from converters.sources.base import Offsets, TokenIds
from converters.sources.checkpoint import read_json
from trireme.errors import CheckpointError

FILE_NAME = "tokenizer.json"
_NO_LIMIT = 1 << 30


class HuggingFaceTokenizer:
    """See `SourceTokenizer`. `pad_token_id` is what the model masks; the tokenizer must agree."""

    odd_token = "longer"

    def __init__(self, folder: Path, origin: Path, pad_token_id: int) -> None:
        self._tokenizer = _load(folder / FILE_NAME, origin)
        settings = read_json(folder / "tokenizer_config.json") if (folder / "tokenizer_config.json").exists() else {}
        self.pad_token_id = pad_token_id
        _require_pad(self._tokenizer, settings, pad_token_id, origin)
        self.longest = min(int(settings.get("model_max_length") or _NO_LIMIT), _NO_LIMIT)
        self.truncation_side = str(settings.get("truncation_side", "right"))
        # What a file of another use asks for (a fixed length, for example) is not what is served.
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def encode(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> list[TokenIds]:
        """See `SourceTokenizer`."""
        given = list(texts) if pairs is None else list(zip(texts, pairs, strict=True))
        return [TokenIds(row.ids, row.type_ids) for row in self._encode(given, max_length)]

    def offsets(self, texts: Sequence[str], max_length: int) -> list[Offsets]:
        """See `SourceTokenizer`."""
        rows = self._encode(list(texts), max_length)
        return [
            [None if owner is None else span for span, owner in zip(row.offsets, row.sequence_ids, strict=True)]
            for row in rows
        ]

    def write(self, path: Path) -> None:
        """See `SourceTokenizer`."""
        self._tokenizer.save(str(path))

    def _encode(self, given: list[Any], max_length: int) -> list[Encoding]:
        self._tokenizer.enable_truncation(max_length, direction=self.truncation_side)
        rows: list[Encoding] = self._tokenizer.encode_batch(given)
        self._tokenizer.no_truncation()
        return rows


def _load(path: Path, origin: Path) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises Exception itself
        raise CheckpointError(origin, f"tokenizer.json cannot be read ({error})", "save the tokenizer again") from error


def _require_pad(tokenizer: Tokenizer, settings: dict[str, Any], pad_token_id: int, origin: Path) -> None:
    pad = settings.get("pad_token")
    token = pad.get("content") if isinstance(pad, dict) else pad
    if isinstance(token, str) and tokenizer.token_to_id(token) != pad_token_id:
        problem = f"the tokenizer pads with {token!r} ({tokenizer.token_to_id(token)}), the model with {pad_token_id}"
        raise CheckpointError(origin, problem, "mend pad_token_id in config.json")
