"""PaddleNLP's SentencePiece tokenizers (XLM-RoBERTa, ALBERT) as a `tokenizer.json` with a Unigram model."""

import unicodedata
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import Unigram
from tokenizers.processors import TemplateProcessing

from converters.tokenizers.characters import character_class, characters_where
from converters.tokenizers.sentencepiece_file import read_sentencepiece
from trireme.errors import GateError


def write_xlm_roberta(source: Any, path: Path) -> None:
    """fairseq's four special tokens first, then the pieces shifted by one; a pair is parted by two `</s>`.

    Raises:
        GateError: the SentencePiece model cannot be expressed.
    """
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [*_pieces(source.sp_model)[3:], ("<mask>", 0.0)]
    tokenizer = Tokenizer(Unigram(pieces, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(_cleaning(source.sp_model))
    _finish(tokenizer, source, path, pair="<s> $A </s> </s> $B </s>")


def write_albert(source: Any, path: Path) -> None:
    """ALBERT's own clean-up, then SentencePiece.

    Raises:
        GateError: the SentencePiece model cannot be expressed.
    """
    inner = source.tokenizer if hasattr(source, "tokenizer") else source
    tokenizer = Tokenizer(Unigram(_pieces(inner.sp_model), unk_id=inner.sp_model.unk_id(), byte_fallback=False))
    steps = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if inner.remove_space:
        steps = [normalizers.Replace(Regex(f"{character_class(characters_where(str.isspace))}+"), " "), *steps]
    if not inner.keep_accents:
        # Not `StripAccents`: PaddleNLP keeps marks of combining class 0.
        steps += [
            normalizers.NFKD(),
            normalizers.Replace(Regex(character_class(characters_where(unicodedata.combining))), ""),
        ]
    if inner.do_lower_case:
        steps.append(normalizers.Lowercase())
    tokenizer.normalizer = normalizers.Sequence([*steps, *_cleaning(inner.sp_model)])
    cls, sep = source.cls_token, source.sep_token
    _finish(tokenizer, source, path, pair=f"{cls} $A {sep} $B:1 {sep}:1")


def _pieces(processor: Any) -> list[tuple[str, float]]:
    return [(processor.id_to_piece(index), processor.get_score(index)) for index in range(len(processor))]


def _cleaning(processor: Any) -> list[Any]:
    model = read_sentencepiece(processor.serialized_model_proto())
    if not model.is_unigram:
        raise GateError(
            "tokens", "its SentencePiece model is not a Unigram model, so no tokenizer.json is known for it"
        )
    steps = [normalizers.Precompiled(model.charsmap)] if model.charsmap else []
    # `Precompiled` looks at grapheme clusters, SentencePiece at the longest match: composed first, both see the same.
    if "nfkc" in model.normalizer:
        steps.insert(0, normalizers.NFC())
    if model.removes_extra_whitespaces:
        steps += [normalizers.Replace(Regex("^ +| +$"), ""), normalizers.Replace(Regex(" {2,}"), " ")]
    return steps


def _finish(tokenizer: Tokenizer, source: Any, path: Path, pair: str) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=False)
    cls, sep = source.cls_token, source.sep_token
    ids = [(token, source.convert_tokens_to_ids(token)) for token in (cls, sep)]
    tokenizer.post_processor = TemplateProcessing(single=f"{cls} $A {sep}", pair=pair, special_tokens=ids)
    tokens = (source.tokenizer if hasattr(source, "tokenizer") else source).unique_no_split_tokens
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in tokens])
    tokenizer.save(str(path))
