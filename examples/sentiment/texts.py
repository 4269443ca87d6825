"""The files for whoever serves the model: labelled reviews to score it, and plain reviews to send at it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from examples.sentiment.corpus import Review

TEST_SIZE = 500
LOAD_SIZE = 2000
HEADER = "text\tlabel"


def write_texts(heldout: Sequence[Review], folder: Path) -> None:
    """Write `test.tsv`, the first held-out reviews with labels, and `reviews.txt`, the last ones without."""
    rows = [HEADER, *(f"{review.text}\t{review.label}" for review in heldout[:TEST_SIZE])]
    _write_lines(folder / "test.tsv", rows)
    _write_lines(folder / "reviews.txt", [review.text for review in heldout[-LOAD_SIZE:]])


def read_test(file: Path) -> list[Review]:
    """The reviews of a file that `write_texts` wrote."""
    lines = file.read_text(encoding="utf-8").split("\n")[1:-1]
    return [Review(*line.split("\t")) for line in lines]


def _write_lines(file: Path, lines: list[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
