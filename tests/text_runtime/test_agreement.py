"""How far two answers agree, by what each task says of it."""

import json
from typing import Any

import numpy as np
import pytest

from text_runtime.probe import probe_of
from text_runtime.routing.sampling import Sampler
from text_runtime.tasks import Outputs, task, task_names


def answers(name: str, **columns: list[Any]) -> list[Any]:
    """Typed answers from a pipeline's raw outputs, one value a row."""
    tensors = {column: _tensor(values) for column, values in columns.items()}
    rows = len(next(iter(tensors.values())))
    tensors["truncated_chars"] = np.zeros((rows, 1), np.int32)
    return task(name).answers(Outputs(tensors, (None,) * rows))


def _tensor(values: list[Any]) -> Any:
    if isinstance(values[0], str):
        return np.array([[value.encode()] for value in values], dtype=np.object_)
    return np.array(values, dtype=np.float32)


def classified(label: str, *scores: float) -> list[Any]:
    """One classification."""
    return answers("text-classification", label=[label], score=[[max(scores)]], scores=[list(scores)])


def tagged(labels: list[str], *scores: float) -> list[Any]:
    """One set of labels."""
    chosen = json.dumps([{"label": label, "score": 0.9} for label in labels])
    return answers("multi-label-classification", labels=[chosen], scores=[list(scores)])


def found(*entities: tuple[int, int, str]) -> list[Any]:
    """One text's entities."""
    rows = [{"start": start, "end": end, "text": "x", "label": label, "score": 0.9} for start, end, label in entities]
    return answers("token-classification", entities=[json.dumps(rows)])


def ranked(*scores: float) -> list[Any]:
    """The scores of passages asked together."""
    return answers("reranking", score=[[score] for score in scores])


def extracted(**names: list[tuple[int, str]]) -> list[Any]:
    """One text's findings."""
    spans = {
        name: [{"text": text, "start": start, "end": start + len(text), "score": 0.9} for start, text in each]
        for name, each in names.items()
    }
    return answers("information-extraction", result=[json.dumps(spans)])


def vector(*values: float) -> list[Any]:
    """One vector."""
    return answers("embedding", embedding=[list(values)])


@pytest.mark.parametrize(
    ("name", "ours", "theirs", "agreements"),
    [
        ("text-classification", classified("a", 0.9, 0.1), classified("a", 0.8, 0.2), [0.9]),
        ("text-classification", classified("a", 0.51, 0.49), classified("b", 0.49, 0.51), [0]),
        ("text-classification", classified("a", 0.9, 0.1), classified("a", float("nan"), 0.1), [0]),
        ("text-classification", classified("a", 0.9, 0.1), classified("a", 0.9, 0.1, 0.0), [0]),
        ("multi-label-classification", tagged(["a", "b"], 0.9, 0.9), tagged(["a"], 0.9, 0.4), [2 / 3 * 0.5]),
        ("multi-label-classification", tagged([], 0.1, 0.1), tagged([], 0.1, 0.4), [0.7]),
        ("token-classification", found((0, 2, "PER")), found((0, 2, "PER"), (3, 5, "LOC")), [2 / 3]),
        ("token-classification", found((0, 2, "PER")), found((0, 2, "LOC")), [0]),
        ("token-classification", found(), found(), []),
        ("reranking", ranked(0.9), ranked(0.6), [0.7]),
        ("reranking", ranked(0.9, 0.1), ranked(0.1, 0.9), [0, 0]),
        ("reranking", ranked(0.02, 0.06, 0.1), ranked(0.02, 0.1, 0.06), [1, 0.48, 0.48]),
        ("embedding", vector(1.0, 0.0), vector(0.6, 0.8), [0.6]),
        ("embedding", vector(1.0, 0.0), vector(-1.0, 0.0), [0]),
        ("embedding", vector(1.0, 0.0), vector(1.0, 0.0, 0.0), [0]),
        ("embedding", vector(1.0, 0.0), vector(0.0, 0.0), [0]),
        ("information-extraction", extracted(a=[(0, "x")]), extracted(a=[(0, "x"), (4, "y")]), [2 / 3]),
        ("information-extraction", extracted(a=[(0, "x")]), extracted(b=[(0, "x")]), [0]),
        ("information-extraction", extracted(), extracted(), []),
    ],
)
def test_two_answers_agree_so_far(name: str, ours: list[Any], theirs: list[Any], agreements: list[float]) -> None:
    assert task(name).agreements(ours, theirs) == pytest.approx(agreements, abs=1e-6)


@pytest.mark.parametrize("name", task_names())
def test_the_probe_is_a_whole_row_that_asks_something(name: str) -> None:
    probe = task(name).probe
    assert probe == probe_of(tensor.name for tensor in task(name).inputs)
    assert all(text not in ("", "[]") for text in probe.values())


def test_a_sampler_takes_its_share_and_the_first_of_few() -> None:
    many = Sampler(0.05, every_s=3600)
    assert many.is_chosen()
    assert 300 < sum(many.is_chosen() for _ in range(10_000)) < 700
    few = Sampler(0, every_s=0)
    assert all(few.is_chosen() for _ in range(10))
