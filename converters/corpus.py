"""Texts to compare on: generated strings that reach a tokenizer's corners."""

import random
from collections.abc import Sequence

_ALPHABETS = (
    [chr(code) for code in range(0x4E00, 0x4E00 + 3000)],
    list("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'-éüñßİŁøœΣσς"),
    list("0123456789.,:%$€¥①②Ⅷ½²"),
    list("，。！？、；：“”（）《》【】…—～·"),
    list("😀👍🏽👨‍👩‍👧❤️🇨🇳☺✔➡★"),
    list("e\u0301a\u0308n\u0303o\u0302\u200d\ufe0f\u20e3"),
    list("ＡＢｃ１２３％ｶﾞﾊﾟ　㎡℃№"),
    list("\x00\x01\x1f\x7f\x85\u200b\u200e\ufeff\ufffd\u2028\u00ad"),
    list(" \t\n\r\u00a0\u2003\u3000"),
    list("あいうアイウ가나다абвأب้กุ"),
)
_SPECIAL = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "[cls]", "##a")


def generated_texts(count: int, seed: int = 0) -> list[str]:
    """Deterministic strings: Chinese, Latin, digits, emoji, combining marks, full-width forms, control characters,
    whitespace alone, special tokens, and one very long string in fifty."""
    chance = random.Random(seed)
    return [_text(chance, 5000 if index % 50 == 49 else chance.choice((1, 3, 12, 40, 200))) for index in range(count)]


def texts_with(special_tokens: Sequence[str]) -> list[str]:
    """Texts that hold each of a tokenizer's special tokens, the pad token too: alone, inside, twice, all together."""
    alone = [text for token in special_tokens for text in (token, f"很好 {token} the fox", f"a{token}{token}b")]
    return [*alone, " ".join(special_tokens)] if alone else []


def _text(chance: random.Random, length: int) -> str:
    pieces: list[str] = []
    while len(pieces) < length:
        alphabet = chance.choice(_ALPHABETS)
        pieces += [chance.choice(alphabet) for _ in range(chance.randint(1, 8))]
        if chance.random() < 0.02:
            pieces.append(chance.choice(_SPECIAL))
    return "".join(pieces[:length])
