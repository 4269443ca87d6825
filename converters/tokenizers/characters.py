"""Sets of characters as Python knows them: the categories inside the `tokenizers` library are of an older Unicode.

PaddleNLP asks Python's `unicodedata`. Classes that are made of it here, when a `tokenizer.json` is written, hold for
that file for ever.
"""

import sys
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache


def character_class(characters: Iterable[str]) -> str:
    """A regular expression's character class of these characters."""
    inside = {ord(character) for character in characters}
    starts = sorted(code for code in inside if code - 1 not in inside)
    ends = sorted(code for code in inside if code + 1 not in inside)
    ranges = (f"\\x{{{start:X}}}-\\x{{{end:X}}}" for start, end in zip(starts, ends, strict=True))
    return f"[{''.join(ranges)}]"


def characters_where(belongs: Callable[[str], object]) -> list[str]:
    """All characters that belong."""
    return [character for code in range(sys.maxunicode + 1) if belongs(character := chr(code))]


@cache
def of_category(prefix: str) -> tuple[str, ...]:
    """All characters of a Unicode category (`Mn`) or of several (`P`). Half of a surrogate pair is none."""
    return tuple(
        characters_where(lambda c: unicodedata.category(c).startswith(prefix) and unicodedata.category(c) != "Cs")
    )
