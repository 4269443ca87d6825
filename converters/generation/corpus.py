"""Texts for the gates of models that write: real prose to read, prompts to continue, conversations to answer."""

from collections.abc import Mapping
from pathlib import Path

from trireme.text_files import read_texts

_PROSE = Path(__file__).parent / "prose.txt"

PROMPTS = (
    "The capital of France is",
    "Once upon a time there was a small house by the sea, and in it lived",
    "def fibonacci(n):\n    ",
    "1, 2, 3, 4, 5,",
    "Q: What is the boiling point of water?\nA:",
    "今天天气很好，我们",
    "Dear Sir or Madam,\n\nI am writing to",
    "The three primary colours are",
    "To be or not to be, that is",
    "In the year 1969",
    "She opened the door and",
    "The best way to learn a language is",
    "import numpy as np\n\nx = np.",
    "Monday, Tuesday, Wednesday,",
    "Ingredients: flour, sugar, eggs,",
    "The difference between a cat and a dog is",
    "Long ago, in a distant country,",
    "HTTP status 404 means",
    "人工智能的发展",
    "My favourite book is",
)

CONVERSATIONS: tuple[tuple[Mapping[str, str], ...], ...] = (
    ({"role": "user", "content": "Hello"},),
    ({"role": "system", "content": "Answer in one word."}, {"role": "user", "content": "What colour is the sky?"}),
    (
        {"role": "user", "content": "  Name a fruit.\n"},
        {"role": "assistant", "content": "An apple."},
        {"role": "user", "content": "另一个呢？"},
    ),
)


def prose(corpus: Path | None) -> list[str]:
    """Real texts, a paragraph each: the user's, or a few pages that come with Trireme.

    Raises:
        TextFileError: the file cannot be read, or holds no text.
    """
    return read_texts(corpus or _PROSE)
