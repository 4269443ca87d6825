"""PaddleNLP's BERT-style WordPiece tokenizers as a `tokenizer.json`."""

from functools import cache
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, normalizers
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, Sequence, Split
from tokenizers.processors import TemplateProcessing

from converters.tokenizers.characters import character_class, of_category

# What PaddleNLP sets apart beside symbols and punctuation: a few by name, and a block that the library's BERT forgets.
_ALONE = [*"\u00ad\u00b2\u00ba\u00b5\u00d8\u014b\u01b1\u3007", *map(chr, range(0x2B820, 0x2B920))]


def write_wordpiece(source: Any, path: Path) -> None:
    """Write `tokenizer.json` for a PaddleNLP tokenizer with a basic tokenizer and a WordPiece vocabulary."""
    tokenizer = Tokenizer(WordPiece(dict(source.get_vocab()), unk_token=source.unk_token, max_input_chars_per_word=100))
    basic = source.basic_tokenizer
    strips_accents = basic.do_lower_case if basic.strip_accents is None else basic.strip_accents
    cleaning = BertNormalizer(
        clean_text=True,
        handle_chinese_chars=basic.tokenize_chinese_chars,
        strip_accents=strips_accents,
        lowercase=basic.do_lower_case,
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(Regex(_dropped(strips_accents)), ""), cleaning])
    # The regular expression goes first: once over the whole text is cheaper than once over every word.
    tokenizer.pre_tokenizer = Sequence([Split(Regex(_set_apart()), "isolated"), BertPreTokenizer()])
    tokenizer.post_processor = TemplateProcessing(
        single=f"{source.cls_token} $A {source.sep_token}",
        pair=f"{source.cls_token} $A {source.sep_token} $B:1 {source.sep_token}:1",
        special_tokens=[(source.cls_token, source.cls_token_id), (source.sep_token, source.sep_token_id)],
    )
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in source.unique_no_split_tokens])
    tokenizer.save(str(path))


@cache
def _dropped(strips_accents: bool) -> str:
    """What PaddleNLP drops and `BertNormalizer` would keep: control and unassigned characters, marks of later years."""
    control = [character for character in of_category("C") if character not in "\t\n\r"]
    kept = BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    marks = [mark for mark in of_category("Mn") if kept.normalize_str(mark)] if strips_accents else []
    return character_class(control + marks)


@cache
def _set_apart() -> str:
    """What PaddleNLP makes a word of its own and `BertPreTokenizer` would not: symbols, punctuation of later years."""
    split = BertPreTokenizer()
    punctuation = [mark for mark in of_category("P") if len(split.pre_tokenize_str(f"a{mark}b")) == 1]
    return character_class([*of_category("S"), *punctuation, *_ALONE])
