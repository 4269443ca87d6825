"""Metrics of tasks that answer with labels: one a text, or any number."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from converters.evaluation.base import Labelled, Metric, read_tsv, require_known, text_columns
from text_runtime.tasks import Tensors
from text_runtime.tensors import TEXT, TEXT_PAIR


class Accuracy(Metric):
    """The share of texts with the right label."""

    name = "accuracy"
    form = "a .tsv with a header and the columns text and label"
    compared = "labels"
    inputs: tuple[str, ...] = (TEXT.name,)

    def read(self, path: Path, labels: Sequence[str]) -> Labelled:
        """See `Metric`."""
        rows = read_tsv(path, [*self.inputs, "label"], self.form)
        truths = [row["label"] for row in rows]
        require_known(path, set(truths), labels, self.form)
        return Labelled({name: text_columns(rows)[name] for name in self.inputs}, truths)

    def answer(self, tensors: Tensors, row: int) -> str:
        """See `Metric`."""
        return str(tensors["label"][row, 0].decode())

    def value(self, answers: Sequence[Any], truths: Sequence[Any]) -> float:
        """See `Metric`."""
        return float(np.mean([answer == truth for answer, truth in zip(answers, truths, strict=True)]))

    def agreement(self, ours: Sequence[Any], theirs: Sequence[Any]) -> float:
        """The share of texts with the same label."""
        return self.value(ours, theirs)


class PairAccuracy(Accuracy):
    """The share of pairs with the right label."""

    form = "a .tsv with a header and the columns text, text_pair and label"
    inputs = (TEXT.name, TEXT_PAIR.name)


class MacroF1(Metric):
    """The unweighted mean of every label's F1: a rare label counts as much as a frequent one."""

    name = "macro-F1"
    form = "a .tsv with a header and the columns text and labels (separated by commas, or none)"
    compared = "sets of labels"

    def read(self, path: Path, labels: Sequence[str]) -> Labelled:
        """See `Metric`."""
        rows = read_tsv(path, [TEXT.name, "labels"], self.form)
        truths = [frozenset(word.strip() for word in row["labels"].split(",") if word.strip()) for row in rows]
        require_known(path, set().union(*truths), labels, self.form)
        return Labelled({TEXT.name: text_columns(rows)[TEXT.name]}, truths)

    def answer(self, tensors: Tensors, row: int) -> frozenset[str]:
        """See `Metric`."""
        return frozenset(entry["label"] for entry in json.loads(tensors["labels"][row, 0]))

    def value(self, answers: Sequence[Any], truths: Sequence[Any]) -> float:
        """See `Metric`. Labels that neither side ever gives do not count."""
        from sklearn.metrics import f1_score
        from sklearn.preprocessing import MultiLabelBinarizer

        labels = sorted(set().union(*answers, *truths))
        if not labels:
            return 1.0
        table = MultiLabelBinarizer(classes=labels)
        return float(f1_score(table.fit_transform(truths), table.fit_transform(answers), average="macro"))

    def agreement(self, ours: Sequence[Any], theirs: Sequence[Any]) -> float:
        """The share of texts with the same set of labels."""
        return float(np.mean([our == their for our, their in zip(ours, theirs, strict=True)]))
