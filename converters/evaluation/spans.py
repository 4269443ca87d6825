"""Metrics of tasks that answer with stretches of a text: entities, and what UIE extracts."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from converters.evaluation.base import EvaluationError, Labelled, Metric, require_known
from text_runtime.tasks import Tensors
from text_runtime.tasks.tags import TagScheme, Word
from text_runtime.tensors import TEXT
from trireme.errors import UnsupportedError

Place = tuple[int, int, str]
_Sentence = list[tuple[str, str]]


class EntityF1(Metric):
    """F1 over all entities of all texts: right are those with the same characters and the same label (CoNLL-2003)."""

    name = "entity F1"
    form = "CoNLL: a word and its tag a line, an empty line between texts"
    compared = "entities"

    def read(self, path: Path, labels: Sequence[str]) -> Labelled:
        """Read CoNLL. Words are joined by blanks, except beside a Chinese or Japanese character."""
        sentences = list(_sentences(path, self.form))
        if not sentences:
            raise EvaluationError(path, "holds no text", self.form)
        require_known(path, {tag for sentence in sentences for _, tag in sentence}, labels, self.form)
        scheme = TagScheme(labels)
        joined = [_joined(sentence, labels) for sentence in sentences]
        truths = [frozenset((e.start, e.end, e.label) for e in scheme.entities(words)) for _, words in joined]
        return Labelled({TEXT.name: [text for text, _ in joined]}, truths)

    def answer(self, tensors: Tensors, row: int) -> frozenset[Place]:
        """See `Metric`."""
        return frozenset((e["start"], e["end"], e["label"]) for e in json.loads(tensors["entities"][row, 0]))

    def value(self, answers: Sequence[Any], truths: Sequence[Any]) -> float:
        """See `Metric`; 1 where there is nothing to find and nothing was found."""
        right = sum(len(answer & truth) for answer, truth in zip(answers, truths, strict=True))
        total = sum(map(len, answers)) + sum(map(len, truths))
        return 2 * right / total if total else 1.0

    def agreement(self, ours: Sequence[Any], theirs: Sequence[Any]) -> float:
        """F1 of the one's entities against the other's."""
        return self.value(ours, theirs)


class ExtractionAgreement(EntityF1):
    """Agreement of what UIE extracts; there is no file format for what it should."""

    name = "extraction F1"
    form = "no labelled file: UIE is compared with its source only"
    compared = "extracted spans"

    def read(self, path: Path, labels: Sequence[str]) -> Labelled:
        """See the class."""
        raise UnsupportedError("--evaluate for the task", "information-extraction", ["every other task"])

    def answer(self, tensors: Tensors, row: int) -> frozenset[Place]:
        """Every span of every level, by the names that lead to it."""
        return frozenset(_places(json.loads(tensors["result"][row, 0]), ""))


def _places(result: dict[str, Any], path: str) -> Iterator[Place]:
    for name, answers in result.items():
        for answer in answers:
            yield answer.get("start", -1), answer.get("end", -1), f"{path}/{name}"
            yield from _places(answer.get("relations", {}), f"{path}/{name}/{answer['text']}")


def _sentences(path: Path, form: str) -> Iterator[_Sentence]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(path, str(error), form) from error
    sentence: _Sentence = []
    for number, line in enumerate([*lines, ""], 1):
        fields = line.split()
        if len(fields) == 1:
            raise EvaluationError(path, f"line {number} has no tag", form)
        if fields and fields[0] != "-DOCSTART-":
            sentence.append((fields[0], fields[-1]))
        if not fields and sentence:
            yield sentence
            sentence = []


def _joined(sentence: _Sentence, labels: Sequence[str]) -> tuple[str, list[Word]]:
    text, words = "", []
    for word, tag in sentence:
        if text and not (_is_unspaced(text[-1]) or _is_unspaced(word[0])):
            text += " "
        words.append(Word(len(text), len(text) + len(word), labels.index(tag), 1.0))
        text += word
    return text, words


def _is_unspaced(character: str) -> bool:
    """Whether it is of a script that puts no blanks between words: kana, CJK and their full-width marks."""
    return "\u3000" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff" or "\uff00" <= character <= "\uffef"
