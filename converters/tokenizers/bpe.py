"""PaddleNLP's byte-level BPE tokenizer (English RoBERTa) as a `tokenizer.json`."""

from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import TemplateProcessing


def write_byte_bpe(source: Any, path: Path) -> None:
    """Write `tokenizer.json` for a PaddleNLP tokenizer with GPT-2's vocabulary and merges."""
    merges = sorted(source.bpe_ranks, key=source.bpe_ranks.__getitem__)
    tokenizer = Tokenizer(BPE(dict(source.encoder), merges, unk_token=source.unk_token))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=source.add_prefix_space, use_regex=True)
    cls, sep = source.cls_token, source.sep_token
    tokenizer.post_processor = TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {sep} {sep} $B {sep}",
        special_tokens=[(cls, source.cls_token_id), (sep, source.sep_token_id)],
    )
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in source.unique_no_split_tokens]
    )
    tokenizer.save(str(path))
