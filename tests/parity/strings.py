"""Strings by chance that reach the corners of tokenizers: blanks, marks, emoji, controls, special tokens, any code."""

import random
from collections.abc import Sequence

_ALPHABETS = (
    list("abcdefghijklmnopqrstuvwxyz"),
    list("THEFOXLAZYJPÉQuickBrownÄÖÜßİıŁœΣσς"),
    ["the", "fox", " the", " fox", "quick", "dogs", "ing", "s", " over", "The", "FOX", "twice"],
    list("很好的酒店服务也不错北京大学张三李四王小明出生于上海在龘𠮷"),
    list("0123456789½²①Ⅷ.,:;!?%$€£¥'\"-_/\\()[]{}<>#@&*+=~^|`"),
    list("，。！？、；：“”（）《》…—～·"),
    list(" \t\n\r\u00a0\u2002\u2003\u2009\u2028\u2029\u3000\x0b\x0c\x85"),
    ["  ", "   ", "\r\n", "\n\n", "        "],
    list("\u0301\u0308\u0303\u0302\u0323\u20e3\ufe0f\u0e49\u0940\u093f"),
    ["e\u0301", "é", "a\u0308", "n\u0303", "ﬁ", "Å", "Å", "ｶﾞ", "ガ", "한", "한"],
    ["😀", "👍🏽", "👨‍👩‍👧", "🇨🇳", "❤️", "1️⃣", "☺", "→", "✔"],
    list("\x00\x01\x1f\x7f\u00ad\u200b\u200c\u200d\u200e\u2060\ufeff\ufffd\ufffe\ue000\U000e0041"),
    list("あいアイｱ가나다абвЖאبกि"),
    list("▁Ġ##\u2581\u0120"),
)
_LENGTHS = (0, 1, 2, 5, 12, 30, 80, 200)


def any_character(chance: random.Random) -> str:
    """Any code point but half of a surrogate pair."""
    code = chance.choice((0x100, 0x3000, 0x10000, 0x110000))
    found = chance.randrange(code)
    return chr(found if not 0xD800 <= found < 0xE000 else found - 0x800)


def any_string(chance: random.Random, specials: Sequence[str]) -> str:
    """A string of up to 200 pieces."""
    wanted, pieces = chance.choice(_LENGTHS), list[str]()
    while len(pieces) < wanted:
        alphabet = chance.choice(_ALPHABETS)
        pieces += (chance.choice(alphabet) for _ in range(chance.randint(1, 6)))
        if chance.random() < 0.1:
            pieces.append(any_character(chance))
        if specials and chance.random() < 0.05:
            pieces.append(chance.choice(specials))
    return "".join(pieces[:wanted])
