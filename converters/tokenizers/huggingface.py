"""The `tokenizer.json` beside an ONNX graph: taken as it is, where the files beside it do not say otherwise."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
from tokenizers import Encoding, Tokenizer

from converters.sources.base import Offsets, TokenIds, TokenizerTraits
from converters.sources.checkpoint import read_json
from converters.token_rows import highest_of
from converters.tokenizers.settings import REMEDY, longest, truncation_side
from trireme.errors import CheckpointError

FILE_NAME = "tokenizer.json"
SETTINGS_NAME = "tokenizer_config.json"
_BERT_KEYS = {"do_lower_case": ("lowercase", True), "strip_accents": ("strip_accents", None)}
_BERT_KEYS |= {"tokenize_chinese_chars": ("handle_chinese_chars", True)}
"""What `AutoTokenizer` reads from the settings, BERT's normalizer's own name for it, and what it takes for granted."""
_FLAGS = ("content", "lstrip", "rstrip", "single_word", "normalized", "special")


class HuggingFaceTokenizer:
    """See `SourceTokenizer`. `pad_token_id` is the model's; None where its config names none."""

    def __init__(self, folder: Path, pad_token_id: int | None) -> None:
        self._tokenizer = _load(folder)
        settings = read_json(folder / SETTINGS_NAME) if (folder / SETTINGS_NAME).exists() else {}
        if problem := next(_contradictions(orjson.loads(self._tokenizer.to_str()), settings), None):
            raise CheckpointError(folder, f"{SETTINGS_NAME} contradicts {FILE_NAME}: {problem}", REMEDY)
        self.traits = TokenizerTraits(
            pad_token_id=_pad(self._tokenizer, settings, pad_token_id),
            longest=longest(folder, settings.get("model_max_length", sys.maxsize)),
            truncation_side=truncation_side(folder, settings.get("truncation_side", "right")),
            special_tokens=tuple(_special_tokens(self._tokenizer)),
            highest_token=highest_of(self._tokenizer.get_vocab()),
        )
        # What a file of another use asks for (a fixed length, for example) is not what is served.
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def encode(self, texts: Sequence[str], pairs: Sequence[str] | None, max_length: int) -> list[TokenIds]:
        """See `SourceTokenizer`."""
        prepared = [self.traits.preparation.apply(text) for text in texts]
        given = prepared if pairs is None else list(zip(prepared, pairs, strict=True))
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
        self._tokenizer.enable_truncation(max_length, direction=self.traits.truncation_side)
        rows: list[Encoding] = self._tokenizer.encode_batch(given)
        self._tokenizer.no_truncation()
        return rows


def _load(folder: Path) -> Tokenizer:
    path = folder / FILE_NAME
    if not path.is_file():
        raise CheckpointError(folder, f"has no {FILE_NAME}", REMEDY)
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises Exception itself
        raise CheckpointError(folder, f"{FILE_NAME} cannot be read ({error})", REMEDY) from error


def _contradictions(state: dict[str, Any], settings: dict[str, Any]) -> Iterator[str]:
    """What transformers would change of the tokenizer in memory because the settings beside it say so."""
    is_generic = settings.get("tokenizer_class") in (None, "PreTrainedTokenizerFast")
    normalizer, splitter = state.get("normalizer") or {}, state.get("pre_tokenizer") or {}
    if normalizer.get("type") == "BertNormalizer" and not is_generic:
        for key, (name, usual) in _BERT_KEYS.items():
            if settings.get(key, usual) != normalizer.get(name):
                yield f"{key} is {settings.get(key, usual)} and not {normalizer.get(name)}"
    own_space = splitter.get("add_prefix_space")
    if splitter.get("type") == "ByteLevel" and settings.get("add_prefix_space", own_space) != own_space:
        yield f"add_prefix_space is {settings['add_prefix_space']} and not {own_space}"
    known = {entry["id"]: entry for entry in state.get("added_tokens", [])}
    for index, entry in (settings.get("added_tokens_decoder") or {}).items():
        own = known.get(int(index), {}) if str(index).isdecimal() and isinstance(entry, dict) else None
        if own is None:
            yield f"token {index!r} of added_tokens_decoder is none"
            continue
        odd = [flag for flag in _FLAGS if flag in entry and entry[flag] != own.get(flag)]
        if odd:
            said, kept = entry[odd[0]], own.get(odd[0])
            yield f"{odd[0]} of token {index} ({entry.get('content')!r}) is {said!r} and not {kept!r}"


def _special_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    for token in tokenizer.get_added_tokens_decoder().values():
        if token.special:
            yield token.content


def _pad(tokenizer: Tokenizer, settings: dict[str, Any], pad_token_id: int | None) -> int:
    """What rows are padded with: any id would do where the attention mask tells padding from tokens."""
    pad = settings.get("pad_token")
    token = pad.get("content") if isinstance(pad, dict) else pad
    found = tokenizer.token_to_id(token) if isinstance(token, str) else None
    return next((index for index in (found, pad_token_id) if index is not None), 0)
