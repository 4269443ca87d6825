"""Texts that tasks are tested on."""

import random

_PIECES = (
    *(
        "中国",
        "北京大学",
        "的",
        "在",
        "张三",
        "李四",
        "去年",
        "发布了",
        "，",
        "。",
        "John Smith",
        "Johnson",
        "Paris",
        "2024",
        "15",
    ),
    *(
        "iPhone 15 Pro",
        "😀",
        "👨‍👩‍👧",
        "ＡＢＣ",
        "１２３",
        "café",
        "e\u0301",
        " ",
        "\t",
        "\u200b",
        "\x00",
        "™",
        "…",
        "ﬁ",
        "Ⅷ",
    ),
)


def hard_texts(count: int, seed: int = 3, most_pieces: int = 18) -> list[str]:
    """Deterministic mixtures of Chinese, Latin, digits, emoji, full-width, combining and dropped characters."""
    chance = random.Random(seed)
    return ["".join(chance.choices(_PIECES, k=chance.randint(1, most_pieces))) for _ in range(count)]
