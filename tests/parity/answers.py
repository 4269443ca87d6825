"""Exports a checkpoint, asks its release in this process, and says how far its answers are from the right ones."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from converters.export import ExportSpec, export
from converters.sources import Pooling, SourceOptions
from tests.parity.cases import RightValues
from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.tasks import Tensors
from trireme.contract.repository import Repository

NAME = "x"
CLOSE = 1e-4
_STRATEGIES = {"first": "first", "mean": "average", "token": "simple"}
_WITHOUT_BLANKS = re.compile("[\u2e80-\u9fff]")
Entity = tuple[int, int, str, float]


def export_case(case: RightValues, folder: Path, repository: Path, python: Path) -> None:
    """Export the folder as its values say."""
    content, labels = case.content, None
    if "labels" in content:
        labels = repository.with_suffix(".labels.json")
        labels.write_text(json.dumps(content["labels"]), encoding="utf-8")
    pooling = Pooling(content["pooling"]) if "pooling" in content else None
    options = SourceOptions(python=python, pooling=pooling, prompt=content.get("prompt"))
    export(ExportSpec(folder, case.task, NAME, repository, options=options, labels=labels))


def ask(repository: Path, texts: list[str], pairs: list[str] | None) -> Tensors:
    """What release 1 answers to all texts in one request, so that they are padded beside each other."""
    found = Repository(repository)
    pipeline = LocalPipeline(found.release_folders(NAME, 1), found.manifest(NAME, 1))
    columns = {"text": texts} | ({} if pairs is None else {"text_pair": pairs})
    (answer,) = pipeline([{name: text_tensor(column) for name, column in columns.items()}])
    return answer


def differences(case: RightValues, answer: Tensors) -> list[str]:
    """A line for every text whose answer is not the right one."""
    if case.task == "token-classification":
        return _entity_differences(case, [orjson.loads(row[0]) for row in answer["entities"]])
    key = {"embedding": "embedding", "reranking": "score"}.get(case.task, "scores")
    wanted = np.asarray(case.content["vectors" if key == "embedding" else "scores"], dtype=np.float64)
    found = np.asarray(answer[key], dtype=np.float64).reshape(len(case.texts), -1)
    wanted = wanted.reshape(len(case.texts), -1)
    if wanted.shape != found.shape:
        return [f"{found.shape} instead of {wanted.shape}"]
    errors = np.abs(found - wanted).max(axis=1)
    return [
        f"{text[:40]!r}: {error:.1e} off, {row[:4].round(5).tolist()} instead of {right[:4].round(5).tolist()}"
        for text, error, row, right in zip(case.texts, errors, found, wanted, strict=True)
        if not error < CLOSE
    ]


def _entity_differences(case: RightValues, answers: list[list[dict[str, Any]]]) -> list[str]:
    aggregation = case.content.get("labels", {}).get("aggregation", "first")
    rows = case.content["pipelines"][_STRATEGIES[aggregation]]
    found = [[(one["start"], one["end"], one["label"], one["score"]) for one in row] for row in answers]
    wanted = [list(with_marks(text, entities)) for text, entities in zip(case.texts, rows, strict=True)]
    return [
        f"{text[:40]!r}: {_unlike(ours, theirs)}"
        for text, ours, theirs in zip(case.texts, found, wanted, strict=True)
        if not are_close(ours, theirs) and not (_has_own_words(case) and _WITHOUT_BLANKS.search(text))
    ]


def _has_own_words(case: RightValues) -> bool:
    """Whether words are found otherwise than transformers finds them.

    To its pipeline a Chinese sentence is one word, where the tokenizer knows no words; here each of its pieces is one.
    """
    aggregation = case.content.get("labels", {}).get("aggregation", "first")
    return aggregation != "token" and case.content.get("is_aware") is False


def with_marks(text: str, entities: Iterable[Sequence[Any]]) -> Iterator[Entity]:
    """Entities as transformers gives them, in our convention of where they end.

    A mark belongs to the character that it stands upon, though tokenizers that strip accents count it to none.
    """
    found = [(start, end, label, score) for start, end, label, score in entities]
    limits = [*(entity[0] for entity in found), len(text)][1:]
    for (start, end, label, score), limit in zip(found, limits, strict=True):
        last = end
        while last < limit and unicodedata.category(text[last]).startswith("M"):
            last += 1
        yield start, last, label, score


def are_close(ours: list[Entity], theirs: list[Entity]) -> bool:
    """Whether two lists of entities are the same."""
    same_places = [one[:3] for one in ours] == [one[:3] for one in theirs]
    return same_places and all(abs(one[3] - other[3]) < CLOSE for one, other in zip(ours, theirs, strict=True))


def _unlike(ours: list[Entity], theirs: list[Entity]) -> str:
    """The first few that only one side has."""
    rounded = [{(*one[:3], round(one[3], 3)) for one in side} for side in (ours, theirs)]
    only = [sorted(rounded[0] - rounded[1])[:4], sorted(rounded[1] - rounded[0])[:4]]
    return f"{only[0]} instead of {only[1]}"
