"""The texts that are sent: a corpus from a file, and a stream of rows drawn from it."""

import csv
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from trireme.errors import TriremeError


class CorpusError(TriremeError):
    """A corpus file gives no texts."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"corpus {path}: {problem}; name a .txt with one text a line or a .tsv with a column 'text'")


def read_corpus(path: Path) -> list[str]:
    """The texts of a `.txt` (one a line) or a `.tsv` (its column `text`), blank ones left out.

    Raises:
        CorpusError: the file cannot be read, or holds no text.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(path, str(error)) from error
    texts = _column(lines) if path.suffix == ".tsv" else lines
    found = [text.strip() for text in texts if text.strip()]
    if not found:
        raise CorpusError(path, "it holds no text")
    return found


def _column(lines: Sequence[str]) -> list[str]:
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [row.get("text") or "" for row in rows]


def draw(texts: Sequence[str], rows: int, seed: int) -> Iterator[list[str]]:
    """Endless requests of `rows` texts each, drawn evenly: lengths are mixed as they are in the corpus."""
    source = random.Random(seed)
    while True:
        yield source.choices(texts, k=rows)
