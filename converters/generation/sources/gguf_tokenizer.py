"""A `tokenizer.json` out of GGUF's tables: byte-level BPE, with the pre-tokenizer that the file names."""

from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

from converters.generation.sources.gguf_tables import GgufTables
from trireme.errors import CheckpointError

_CONTROL, _USER_DEFINED = 3, 4
_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}{{1,3}}|{_REST}"
_QWEN2 = rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}|{_REST}"
_SPLITS = {"gpt-2": (_GPT2,), "smollm": (r"\p{N}", _GPT2), "llama-bpe": (_LLAMA3,), "qwen2": (_QWEN2,)}
"""The patterns by which a text is cut before it is merged, by GGUF's names."""


def write_gguf_tokenizer(tables: GgufTables, path: Path, origin: Path) -> None:
    """Write `tokenizer.json`.

    Raises:
        CheckpointError: the tokenizer is of a kind that is not known; `origin` names the file.
    """
    if tables.model != "gpt2" or tables.pre_tokenizer not in _SPLITS:
        problem = f"its tokenizer is '{tables.model}' with pre-tokenizer '{tables.pre_tokenizer}', which is not known"
        remedy = f"known are gpt2 with {', '.join(_SPLITS)}; export the checkpoint that the file was made of"
        raise CheckpointError(origin, problem, remedy)
    vocabulary = {token: index for index, token in enumerate(tables.tokens)}
    merges = [_pair(merge) for merge in tables.merges]
    tokenizer = Tokenizer(
        models.BPE(vocab=vocabulary, merges=merges, ignore_merges=tables.pre_tokenizer == "llama-bpe")
    )
    tokenizer.pre_tokenizer = _pre_tokenizer(tables.pre_tokenizer)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(_added(tables, _CONTROL))
    tokenizer.add_tokens(_added(tables, _USER_DEFINED))
    tokenizer.save(str(path))


def _pre_tokenizer(name: str) -> Any:
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in _SPLITS[name]]
    return pre_tokenizers.Sequence([*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def _added(tables: GgufTables, wanted: int) -> list[Any]:
    pairs = zip(tables.tokens, tables.kinds, strict=True)
    return [AddedToken(token, special=wanted == _CONTROL, normalized=False) for token, kind in pairs if kind == wanted]


def _pair(merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    return left, right
