"""Every task on the real Triton, beside PaddleNLP's own forward pass of the same weights."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.tasks.conftest import THRESHOLDS, TWINS, Source
from trireme.client import Client, Outputs
from trireme.errors import RefusedInputError
from trireme.serving import Server

pytestmark = pytest.mark.xdist_group("tasks")
TOLERANCE = 1e-4


def ask(server: Server, pipeline: str, **columns: list[str]) -> Outputs:
    """All outputs for columns of texts."""
    with Client(f"grpc://{server.grpc_url}", pipeline) as client:
        return client.infer(columns)


def softmax(logits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Over the last axis."""
    powers: npt.NDArray[Any] = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result: npt.NDArray[Any] = powers / powers.sum(axis=-1, keepdims=True)
    return result


def sigmoid(logits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Of every element."""
    result: npt.NDArray[Any] = 1 / (1 + np.exp(-logits))
    return result


def test_text_classification_scores_equal_the_sources(tasks_server: Server, source: Source, texts: list[str]) -> None:
    theirs = softmax(np.stack(source("sentiment", "ErnieForSequenceClassification", texts)))
    assert np.abs(ask(tasks_server, "sentiment", text=texts)["scores"] - theirs).max() < TOLERANCE


def test_multi_label_scores_equal_the_sources_and_thresholds_choose_the_labels(
    tasks_server: Server, source: Source, texts: list[str]
) -> None:
    theirs = sigmoid(np.stack(source("topics", "ErnieForSequenceClassification", texts)))
    answer = ask(tasks_server, "topics", text=texts)
    assert np.abs(answer["scores"] - theirs).max() < TOLERANCE
    for row, scores in zip(answer["labels"].ravel(), answer["scores"], strict=True):
        chosen = [(entry["label"], pytest.approx(entry["score"])) for entry in json.loads(row)]
        pairs = zip(THRESHOLDS.items(), scores.tolist(), strict=True)
        expected = [(label, score) for (label, threshold), score in pairs if score >= threshold]
        assert chosen == sorted(expected, key=lambda pair: -pair[1])


def test_pair_scores_equal_the_sources(tasks_server: Server, source: Source, texts: list[str]) -> None:
    pairs = [*texts[1:], texts[0]]
    theirs = softmax(np.stack(source("pairs", "ErnieForSequenceClassification", texts, pairs)))
    assert np.abs(ask(tasks_server, "pairs", text=texts, text_pair=pairs)["scores"] - theirs).max() < TOLERANCE


def test_reranking_scores_equal_the_sources(tasks_server: Server, source: Source, texts: list[str]) -> None:
    pairs = [*texts[1:], texts[0]]
    theirs = sigmoid(np.stack(source("rerank", "ErnieForSequenceClassification", texts, pairs)))
    ours = ask(tasks_server, "rerank", text=texts, text_pair=pairs)["score"]
    assert np.abs(ours.ravel() - theirs.ravel()).max() < TOLERANCE


@pytest.mark.parametrize("pipeline", ["ner", "long-ner"])
def test_an_entity_is_the_text_between_its_offsets_and_no_two_overlap(
    tasks_server: Server, texts: list[str], pipeline: str
) -> None:
    found = 0
    for text, row in zip(texts, ask(tasks_server, pipeline, text=texts)["entities"].ravel(), strict=True):
        entities = json.loads(row)
        found += len(entities)
        assert all(text[entity["start"] : entity["end"]] == entity["text"] for entity in entities)
        ordered = sorted(entities, key=lambda entity: entity["start"])
        assert all(one["end"] <= other["start"] for one, other in zip(ordered, ordered[1:], strict=False))
    assert found > 100


def test_cls_embeddings_equal_the_sources_first_token(tasks_server: Server, source: Source, texts: list[str]) -> None:
    theirs = np.stack([hidden[0] for hidden in source("base", "ErnieModel", texts)])
    assert np.abs(ask(tasks_server, "embed-cls", text=texts)["embedding"] - theirs).max() < TOLERANCE


def test_mean_embeddings_equal_the_sources_mean_scaled_to_length_1(
    tasks_server: Server, source: Source, texts: list[str]
) -> None:
    means = np.stack([hidden.mean(axis=0) for hidden in source("base", "ErnieModel", texts)])
    theirs = means / np.linalg.norm(means, axis=1, keepdims=True)
    assert np.abs(ask(tasks_server, "embed", text=texts)["embedding"] - theirs).max() < TOLERANCE


def test_extraction_by_sixteen_clients_equals_one_by_one(tasks_server: Server, texts: list[str]) -> None:
    work = [(text, schema_of(index)) for index, text in enumerate(texts)]
    assert len({schema for _, schema in work}) == len(work)

    def extract(row: tuple[str, str]) -> Any:
        return json.loads(ask(tasks_server, "uie", text=[row[0]], schema=[row[1]])["result"].ravel()[0])

    alone = [approximate(extract(row)) for row in work]
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(extract, work))
    assert together == alone
    deepest = [depth(answer) for answer in together]
    assert {1, 2, 3} <= set(deepest)


@pytest.mark.parametrize("pipeline", TWINS)
def test_a_joined_pipeline_answers_as_its_separate_steps_do(
    tasks_server: Server, texts: list[str], pipeline: str
) -> None:
    inputs = {"text": texts}
    if pipeline in ("pairs", "rerank"):
        inputs["text_pair"] = [*texts[1:], texts[0]]
    if pipeline == "uie":
        inputs["schema"] = [schema_of(index) for index in range(len(texts))]
    separate, joined = (ask(tasks_server, name, **inputs).tensors for name in (pipeline, f"{pipeline}-joined"))
    assert separate.keys() == joined.keys()
    for name, theirs in separate.items():
        if theirs.dtype != np.object_:
            np.testing.assert_allclose(joined[name], theirs, atol=TOLERANCE)
            continue
        for ours, their in zip(joined[name].ravel(), theirs.ravel(), strict=True):
            assert readable(ours) == readable(their)


def readable(value: bytes) -> Any:
    """A label, or JSON with approximate scores."""
    try:
        return approximate(json.loads(value))
    except ValueError:
        return value


def schema_of(index: int) -> str:
    """A schema that no other index has: flat, nested once, or nested twice."""
    name, other, third = (f"{word}{index}" for word in ("人物", "时间", "地点"))
    kinds: tuple[Any, ...] = ([name, other], {name: [other]}, [third, {name: [{other: third}]}])
    return json.dumps(kinds[index % len(kinds)], ensure_ascii=False)


def approximate(value: Any) -> Any:
    """The same answers with scores that need not be equal to the last digit: batches differ in their padding."""
    if isinstance(value, dict):
        return {key: approximate(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [approximate(inner) for inner in value]
    return pytest.approx(value, abs=TOLERANCE) if isinstance(value, float) else value


def depth(answers: dict[str, Any]) -> int:
    """How many levels of a schema found anything."""
    return max((1 + depth(found.get("relations", {})) for each in answers.values() for found in each), default=0)


def test_a_wrong_schema_is_refused_by_name(tasks_server: Server) -> None:
    with pytest.raises(RefusedInputError, match="input 'schema', row 0"):
        ask(tasks_server, "uie", text=["好"], schema=["{not json"])


def test_a_pair_task_without_text_pair_names_the_input(tasks_server: Server) -> None:
    with pytest.raises(RefusedInputError, match="text_pair"):
        ask(tasks_server, "pairs", text=["好"])
