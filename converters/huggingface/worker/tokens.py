"""The folder's tokenizer, asked the way its own library asks it."""

from __future__ import annotations

from typing import Any

import tokenizers

from .refusal import Refusal

_UNLIMITED = 1 << 20
"""A tokenizer that knows no limit says 10^30."""


def encode(tokenizer: Any, texts: list[str], pairs: list[str] | None, max_length: int) -> dict[str, Any]:
    """Ids and type ids of every row, special tokens added, truncated to `max_length` tokens."""
    rows = tokenizer(
        texts, pairs, truncation=True, max_length=max_length, return_attention_mask=False, return_token_type_ids=True
    )
    return {"ids": rows["input_ids"], "type_ids": _type_ids(tokenizer, rows)}


def offsets(tokenizer: Any, texts: list[str], max_length: int) -> list[list[tuple[int, int] | None]]:
    """Where each token's characters begin and end in its text; None for special tokens."""
    rows = tokenizer(texts, truncation=True, max_length=max_length, return_offsets_mapping=True)
    return [
        [None if owner is None else tuple(span) for span, owner in zip(spans, rows.sequence_ids(index))]
        for index, spans in enumerate(rows["offset_mapping"])
    ]


def save(tokenizer: Any, path: str) -> None:
    """Write `tokenizer.json` as the library has it in memory, where every setting beside the file has been applied."""
    backend = tokenizers.Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    backend.no_padding()
    backend.no_truncation()
    backend.save(path)


def highest_id(tokenizer: Any) -> tuple[str, int]:
    """The token with the highest id, added ones included."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    return max(vocabulary.items(), key=lambda entry: entry[1])


def limit_of(tokenizer: Any) -> int | None:
    """The longest row that the tokenizer allows; None where it knows no limit.

    Raises:
        Refusal: its limit is no number of tokens.
    """
    limit = tokenizer.model_max_length
    if not isinstance(limit, (int, float)) or limit != limit or limit < 1:
        problem = f"model_max_length is {limit!r}, which is no number of tokens"
        raise Refusal(problem, "mend tokenizer_config.json")
    return int(limit) if limit < _UNLIMITED else None


def gives_types(tokenizer: Any) -> bool:
    """Whether the model is meant to get the tokenizer's type ids."""
    return "token_type_ids" in tokenizer.model_input_names


def _type_ids(tokenizer: Any, rows: Any) -> list[list[int]]:
    if gives_types(tokenizer):
        return list(rows["token_type_ids"])
    return [[0] * len(ids) for ids in rows["input_ids"]]
