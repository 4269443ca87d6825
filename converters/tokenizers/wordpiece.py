"""PaddleNLP's BERT-style WordPiece tokenizers as a `tokenizer.json`."""

from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, Sequence, Split
from tokenizers.processors import TemplateProcessing

# PaddleNLP sets apart every symbol, and these characters beside: U+00AD, 00B2, 00BA, 00B5, 00D8, 014B, 01B1, 3007.
_SYMBOLS = Regex(r"[\p{S}\x{AD}\x{B2}\x{BA}\x{B5}\x{D8}\x{14B}\x{1B1}\x{3007}]")


def write_wordpiece(source: Any, path: Path) -> None:
    """Write `tokenizer.json` for a PaddleNLP tokenizer with a basic tokenizer and a WordPiece vocabulary."""
    tokenizer = Tokenizer(WordPiece(dict(source.get_vocab()), unk_token=source.unk_token, max_input_chars_per_word=100))
    basic = source.basic_tokenizer
    tokenizer.normalizer = BertNormalizer(
        clean_text=True,
        handle_chinese_chars=basic.tokenize_chinese_chars,
        strip_accents=basic.strip_accents,
        lowercase=basic.do_lower_case,
    )
    # The regular expression goes first: once over the whole text is cheaper than once over every word.
    tokenizer.pre_tokenizer = Sequence([Split(_SYMBOLS, "isolated"), BertPreTokenizer()])
    tokenizer.post_processor = TemplateProcessing(
        single=f"{source.cls_token} $A {source.sep_token}",
        pair=f"{source.cls_token} $A {source.sep_token} $B:1 {source.sep_token}:1",
        special_tokens=[(source.cls_token, source.cls_token_id), (source.sep_token, source.sep_token_id)],
    )
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in source.all_special_tokens])
    tokenizer.save(str(path))
