"""Tokenizers of every kind, built from a few dozen tokens: WordPiece, byte-level BPE, Unigram."""

import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers.pre_tokenizers import ByteLevel

LIMIT = 64
"""Tokens that a tokenizer of the matrix allows in a row, where a case does not say otherwise."""
_CHINESE = "很好的酒店服务也不错北京大学张三李四王小明出生于上海在"
_WORDS = ("the", "fox", "quick", "brown", "over", "lazy", "dogs", "twice", "jump", "The", "Fox", "LAZY")
_BERT_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_ROBERTA_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def wordpieces(special: tuple[str, ...] = _BERT_SPECIAL) -> list[str]:
    """A vocabulary for WordPiece: letters of both cases, their continuations, digits, signs, accents and characters."""
    letters = [*string.ascii_lowercase, *string.digits]
    capitals = list("THEFOXLAZYJPÉ")
    signs = list(",.!?-€→½£，。é\u0301")
    pieces = [*letters, *(f"##{letter}" for letter in (*letters, *capitals)), *capitals, *signs, *_WORDS, *_CHINESE]
    return list(dict.fromkeys([*special, *pieces, "##ing", "##s"]))


def write_wordpiece(
    folder: Path, kind: str = "Bert", special: tuple[str, ...] = _BERT_SPECIAL, limit: int = LIMIT, **settings: Any
) -> int:
    """A WordPiece tokenizer of a family, saved as the library saves it; gives the size of its vocabulary."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(wordpieces(special)) + "\n", encoding="utf-8")
    made = getattr(transformers, f"{kind}TokenizerFast")(str(vocabulary), model_max_length=limit, **settings)
    made.save_pretrained(folder)
    return len(made)


def _byte_level(merges: list[tuple[str, str]], special: tuple[str, ...]) -> dict[str, int]:
    alphabet = sorted(ByteLevel.alphabet())
    words = [*special[:-1], *alphabet, *("".join(pair) for pair in merges), special[-1]]
    return {word: index for index, word in enumerate(dict.fromkeys(words))}


_MERGED = ("Ġ t", "h e", "Ġt he", "o x", "Ġ f", "Ġf ox", "d o", "a z", "Ġ l")
_MERGES = [(left, right) for left, right in map(str.split, _MERGED)]


def write_bpe(folder: Path, kind: str = "Roberta", limit: int = LIMIT, **settings: Any) -> int:
    """A byte-level BPE tokenizer of a family with a tokenizer class of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    backend = Tokenizer(models.BPE(_byte_level(_MERGES, _ROBERTA_SPECIAL), _MERGES))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    path = folder / "tokenizer.json"
    backend.save(str(path))
    made = getattr(transformers, f"{kind}TokenizerFast")(tokenizer_file=str(path), model_max_length=limit, **settings)
    made.save_pretrained(folder)
    return len(made)


def write_plain_bpe(folder: Path, limit: int = LIMIT, **settings: Any) -> int:
    """A byte-level BPE tokenizer as ModernBERT and GPT-2's younger relatives have it: no class of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    backend = Tokenizer(models.BPE(_byte_level(_MERGES, _BERT_SPECIAL), _MERGES))
    backend.normalizer = normalizers.NFC()
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(word, backend.token_to_id(word)) for word in ("[CLS]", "[SEP]")],
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=limit,
        model_input_names=["input_ids", "attention_mask"],
        **dict(zip(names, _BERT_SPECIAL, strict=True)),
        **settings,
    )
    made.save_pretrained(folder)
    return len(made)


def _pieces(special: tuple[str, ...]) -> list[tuple[str, float]]:
    words = [("▁the", -3.0), ("▁fox", -3.2), ("▁quick", -3.3), ("▁dogs", -3.4), ("▁over", -3.5), ("ing", -3.6)]
    chinese = [("北京", -4.0), ("酒店", -4.1), ("服务", -4.2), ("▁张三", -4.3), ("大学", -4.4)]
    letters = [(letter, -5.0 - index / 50) for index, letter in enumerate("▁" + string.ascii_letters + string.digits)]
    signs = [(sign, -7.0 - index / 50) for index, sign in enumerate(",.!?-€→£é很好的不错也在出生于上海李四王小明")]
    return [*((word, 0.0) for word in special), *words, *chinese, *letters, *signs]


def _unigram(special: tuple[str, ...], unknown: int, template: tuple[str, str, str, str]) -> Tokenizer:
    """SentencePiece's Unigram as converters write it: NFKC, runs of blanks as one, a blank mark in front."""
    backend = Tokenizer(models.Unigram(_pieces(special), unknown, False))
    backend.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    backend.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="always")
    backend.decoder = decoders.Metaspace("▁", prepend_scheme="always")
    single, pair, begin, end = template
    tokens = [(word, backend.token_to_id(word)) for word in (begin, end)]
    backend.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=tokens)
    return backend


def write_unigram(folder: Path, kind: str = "XLMRoberta", limit: int = LIMIT, **settings: Any) -> int:
    """A Unigram tokenizer with RoBERTa's special tokens: XLM-R, CamemBERT."""
    template = ("<s> $A </s>", "<s> $A </s> </s> $B </s>", "<s>", "</s>")
    return _save_unigram(folder, kind, _unigram(_ROBERTA_SPECIAL, 3, template), limit, settings)


def write_bert_unigram(folder: Path, kind: str = "DebertaV2", limit: int = LIMIT, **settings: Any) -> int:
    """A Unigram tokenizer with BERT's special tokens: DeBERTa, ALBERT."""
    template = ("[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", "[CLS]", "[SEP]")
    settings = {"unk_token": "[UNK]", "pad_token": "[PAD]"} | settings
    return _save_unigram(folder, kind, _unigram(_BERT_SPECIAL, 1, template), limit, settings)


def _save_unigram(folder: Path, kind: str, backend: Tokenizer, limit: int, settings: dict[str, Any]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tokenizer.json"
    backend.save(str(path))
    made = getattr(transformers, f"{kind}TokenizerFast")(tokenizer_file=str(path), model_max_length=limit, **settings)
    made.save_pretrained(folder)
    return len(made)


Writer = Callable[..., int]
"""Writes a tokenizer into a folder and gives the number of ids that its model must have rows for."""

__all__ = [
    "LIMIT",
    "AddedToken",
    "Writer",
    "wordpieces",
    "write_bert_unigram",
    "write_bpe",
    "write_plain_bpe",
    "write_unigram",
    "write_wordpiece",
]
