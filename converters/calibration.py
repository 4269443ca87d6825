"""Texts that show a model what it will be asked: ranges of activations are read off them, and what pruning may cut."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from converters.precisions import Calibration
from converters.sources import SourceModel, TokenIds
from text_runtime.tasks import task
from text_runtime.tensors import TEXT_PAIR
from trireme.errors import TextFileError
from trireme.text_files import read_texts

_MOST_TEXTS = 300
"""Ranges hardly change with more, and every text is a forward pass; NNCF's default too."""


@dataclass(frozen=True)
class TaskTexts:
    """A task's inputs without labels: texts, with their pairs where the task has pairs."""

    texts: Sequence[str]
    pairs: Sequence[str] | None

    @property
    def sha256(self) -> str:
        """One hash of them all."""
        lines = self.texts if self.pairs is None else list(map("\t".join, zip(self.texts, self.pairs, strict=True)))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def spread(self, count: int) -> "TaskTexts":
        """At most so many of them, evenly spread over the file."""
        kept = range(len(self.texts)) if len(self.texts) <= count else _evenly(len(self.texts), count)
        pairs = self.pairs
        return TaskTexts([self.texts[i] for i in kept], None if pairs is None else [pairs[i] for i in kept])

    def encode(self, source: SourceModel, max_length: int) -> list[TokenIds]:
        """As the source's own tokenizer encodes them."""
        return source.tokenize(self.texts, self.pairs, max_length)


def read_task_texts(path: Path, task_name: str) -> TaskTexts:
    """One text a line; for a pair task, two with a tab between.

    Raises:
        TextFileError: the file is missing, empty, binary, not UTF-8, or has a line without a pair.
    """
    lines = read_texts(path)
    if TEXT_PAIR not in task(task_name).inputs:
        return TaskTexts(lines, None)
    halves = [line.split("\t") for line in lines]
    for number, parts in enumerate(halves, 1):
        if len(parts) != 2:
            raise TextFileError(path, f"text {number} is no pair: {task_name} needs two texts a line, a tab between")
    return TaskTexts([first for first, _ in halves], [second for _, second in halves])


def calibration_of(
    texts: TaskTexts, source: SourceModel, max_length: int, progress: Callable[[str], None]
) -> Calibration:
    """At most 300 of the texts, as the graph will see them."""
    chosen = texts.spread(_MOST_TEXTS)
    return Calibration(chosen.encode(source, max_length), chosen.sha256, progress)


def _evenly(total: int, count: int) -> list[int]:
    return [index * total // count for index in range(count)]
