"""The typed client beside plain JSON requests to the same Triton: every task, all four ways to ask."""

import asyncio
import inspect
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from tests.tasks.checkpoints import MAX_POSITIONS
from tests.tasks.ways import WAYS, call, raw, url_of
from text_runtime.tasks import method_name, task, task_names
from trireme.client import Address, AsyncClient, Client, Entity, Retries
from trireme.client.exchange import Call, Request
from trireme.client.sync_transports import sync_transport
from trireme.contract.pipelines import Contract, task_of
from trireme.errors import (
    AddressError,
    InputError,
    NoTaskError,
    RefusedInputError,
    UnavailableError,
    UnknownPipelineError,
    WrongTaskError,
)
from trireme.serving import Server

pytestmark = pytest.mark.xdist_group("tasks")
TEXTS = ["中国北京大学的John Smith", "😀 去年在Paris", ""]
PAIRS = ["李四", "2024", "北京大学"]
SCHEMA = ["时间", {"人物": ["时间", "地点"]}]
SAME = 1e-4


def close_to(values: Any) -> Any:
    """The engine's floats, which differ a little from batch to batch."""
    return pytest.approx(values, abs=SAME)


@pytest.mark.parametrize("way", WAYS)
class TestTasks:
    """A method for each task."""

    def test_classify_gives_the_label_its_score_and_all_scores(self, tasks_server: Server, way: str) -> None:
        answers = call(url_of(tasks_server, way), way, "sentiment", "classify", TEXTS)
        for answer, truth in zip(answers, raw(tasks_server, "sentiment", text=TEXTS), strict=True):
            assert [answer.label] == truth["label"]
            assert [answer.score] == close_to(truth["score"])
            assert answer.scores == close_to(tuple(truth["scores"]))
            assert (answer.release, answer.truncated_chars, answer.is_truncated) == (1, 0, False)

    def test_classify_pairs_judges_each_text_with_its_pair(self, tasks_server: Server, way: str) -> None:
        answers = call(url_of(tasks_server, way), way, "pairs", "classify_pairs", TEXTS, PAIRS)
        truths = raw(tasks_server, "pairs", text=TEXTS, text_pair=PAIRS)
        assert [[answer.label] for answer in answers] == [truth["label"] for truth in truths]
        for answer, truth in zip(answers, truths, strict=True):
            assert answer.scores == close_to(tuple(truth["scores"]))

    def test_rerank_scores_passages_in_the_order_given(self, tasks_server: Server, way: str) -> None:
        answers = call(url_of(tasks_server, way), way, "rerank", "rerank", TEXTS[0], PAIRS)
        truths = raw(tasks_server, "rerank", text=[TEXTS[0]] * 3, text_pair=PAIRS)
        assert [answer.score for answer in answers] == close_to([truth["score"][0] for truth in truths])

    def test_tag_labels_gives_those_above_their_thresholds(self, tasks_server: Server, way: str) -> None:
        answers = call(url_of(tasks_server, way), way, "topics", "tag_labels", TEXTS)
        for answer, truth in zip(answers, raw(tasks_server, "topics", text=TEXTS), strict=True):
            wanted = json.loads(truth["labels"][0])
            assert [each.label for each in answer.labels] == [each["label"] for each in wanted]
            assert [each.score for each in answer.labels] == close_to([each["score"] for each in wanted])
            assert answer.scores == close_to(tuple(truth["scores"]))

    def test_recognize_entities_gives_stretches_of_the_text(self, tasks_server: Server, way: str) -> None:
        answers = call(url_of(tasks_server, way), way, "ner", "recognize_entities", TEXTS)
        for answer, truth in zip(answers, raw(tasks_server, "ner", text=TEXTS), strict=True):
            wanted = [Entity(**each) for each in json.loads(truth["entities"][0])]
            assert [(each.start, each.end, each.text, each.label) for each in answer.entities] == [
                (each.start, each.end, each.text, each.label) for each in wanted
            ]
        assert answers[0].entities

    def test_embed_gives_an_array_that_numpy_takes(self, tasks_server: Server, way: str) -> None:
        answer = call(url_of(tasks_server, way), way, "embed", "embed", TEXTS)
        truths = raw(tasks_server, "embed", text=TEXTS)
        assert (answer.vectors.dtype, answer.vectors.shape, len(answer)) == (np.float32, (3, 64), 3)
        assert np.abs(np.asarray(answer) - [truth["embedding"] for truth in truths]).max() < SAME
        assert (answer.releases, answer.truncated_chars) == ((1, 1, 1), (0, 0, 0))

    def test_extract_gives_findings_with_what_was_found_about_them(self, tasks_server: Server, way: str) -> None:
        answers = call(url_of(tasks_server, way), way, "uie", "extract", TEXTS, SCHEMA)
        truths = raw(tasks_server, "uie", text=TEXTS, schema=[json.dumps(SCHEMA)] * 3)
        for answer, truth in zip(answers, truths, strict=True):
            assert _texts(asdict(answer)["result"]) == _texts(json.loads(truth["result"][0]))
        assert answers[0].result

    def test_150_texts_are_answered_in_order(self, tasks_server: Server, texts: list[str], way: str) -> None:
        answers = call(url_of(tasks_server, way), way, "sentiment", "classify", texts[:150])
        assert len(answers) == 150
        for index in (0, 1, 63, 64, 65, 127, 128, 149):
            (truth,) = raw(tasks_server, "sentiment", text=[texts[index]])
            assert answers[index].scores == close_to(tuple(truth["scores"]))

    def test_no_texts_are_no_answers(self, tasks_server: Server, way: str) -> None:
        assert call(url_of(tasks_server, way), way, "sentiment", "classify", []) == []
        assert call(url_of(tasks_server, way), way, "embed", "embed", []).vectors.shape == (0, 64)

    def test_a_text_that_was_cut_says_so(self, tasks_server: Server, way: str) -> None:
        long_text = "好" * 100
        (cut,) = call(url_of(tasks_server, way), way, "sentiment", "classify", [long_text])
        assert (cut.truncated_chars, cut.is_truncated) == (100 - (MAX_POSITIONS - 2), True)
        (whole,) = call(url_of(tasks_server, way), way, "long-sentiment", "classify", [long_text])
        assert not whole.is_truncated

    def test_a_method_of_another_task_names_the_one_that_fits(self, tasks_server: Server, way: str) -> None:
        with pytest.raises(WrongTaskError, match=r"'ner'.*token-classification.*recognize_entities\(\), not classify"):
            call(url_of(tasks_server, way), way, "ner", "classify", TEXTS)

    def test_a_step_is_no_pipeline(self, tasks_server: Server, way: str) -> None:
        with pytest.raises(NoTaskError, match="its outputs .logits. are no task's"):
            call(url_of(tasks_server, way), way, "sentiment_encoder", "task_name")

    def test_an_unknown_pipeline_is_named(self, tasks_server: Server, way: str) -> None:
        with pytest.raises(UnknownPipelineError, match="'nobody' on 127.0.0.1"):
            call(url_of(tasks_server, way), way, "nobody", "classify", TEXTS)

    def test_a_refused_row_is_counted_over_the_whole_call(self, tasks_server: Server, way: str) -> None:
        columns = {"text": ["好"] * 70, "schema": ["[]"] * 66 + ["{not json"] + ["[]"] * 3}
        with pytest.raises(RefusedInputError, match="'uie' on .*: input 'schema', row 66: not JSON"):
            call(url_of(tasks_server, way), way, "uie", "infer", columns)

    def test_a_missing_input_is_named(self, tasks_server: Server, way: str) -> None:
        with pytest.raises(RefusedInputError, match="text_pair"):
            call(url_of(tasks_server, way), way, "pairs", "infer", {"text": TEXTS})

    def test_nobody_listening_is_one_clear_error(self, way: str) -> None:
        url = f"{way.removesuffix('.aio')}://127.0.0.1:9"
        with pytest.raises(UnavailableError, match="server 127.0.0.1:9: does not answer"):
            call(url, way, "sentiment", "classify", TEXTS, retries=Retries(attempts=2, first_wait_s=0.01))


def _texts(found: dict[str, Any]) -> dict[str, Any]:
    """Findings without scores, which differ a little from batch to batch."""
    return {
        name: [(span["text"], span.get("start"), _texts(span.get("relations") or {})) for span in spans]
        for name, spans in found.items()
    }


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_hundred_calls_at_once_get_their_own_answers(tasks_server: Server, texts: list[str], protocol: str) -> None:
    async def together() -> list[Any]:
        async with AsyncClient(url_of(tasks_server, protocol), "sentiment") as client:
            return await asyncio.gather(*(client.classify([text]) for text in texts[:100]))

    with Client(url_of(tasks_server, protocol), "sentiment") as client:
        alone = client.classify(texts[:100])
    for (answer,), expected in zip(asyncio.run(together()), alone, strict=True):
        assert answer.scores == close_to(expected.scores)


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_one_client_serves_many_threads(tasks_server: Server, texts: list[str], protocol: str) -> None:
    with Client(url_of(tasks_server, protocol), "sentiment") as client, ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: client.classify([text]), texts))
        alone = client.classify(texts)
    for (answer,), expected in zip(together, alone, strict=True):
        assert answer.scores == close_to(expected.scores)


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_request_of_65_rows_is_refused_by_the_name_of_its_input(tasks_server: Server, protocol: str) -> None:
    transport = sync_transport(Address.parse(url_of(tasks_server, protocol)))
    with pytest.raises(RefusedInputError, match="'sentiment' on .*: input 'text': 65 rows in one request"):
        transport.infer(Request(Call("sentiment", 10.0), {"text": ["好"] * 65}))
    transport.close()


def test_every_task_has_a_method_that_both_clients_have() -> None:
    assert len({method_name(name) for name in task_names()}) == len(task_names())
    for name in task_names():
        for client in (Client("127.0.0.1:9", "any"), AsyncClient("127.0.0.1:9", "any")):
            method = getattr(client, method_name(name))
            assert f"({name})" in method.__doc__
            assert {"key", "timeout_s"} <= set(inspect.signature(method).parameters)


@pytest.mark.parametrize("name", task_names())
def test_a_task_is_told_from_its_tensors_alone(name: str) -> None:
    contract = Contract("any", name, 2)
    assert task_of([each.name for each in task(name).inputs], [each.name for each in contract.outputs]) == name


def test_what_is_no_list_of_texts_never_leaves() -> None:
    client = Client("127.0.0.1:9", "sentiment")
    with pytest.raises(TypeError, match="'text' takes a list of texts"):
        client.classify("one text")
    with pytest.raises(InputError, match="input 'text': row 1 is no valid text"):
        client.classify(["good", "\ud800"])


def test_columns_of_different_lengths_never_leave(tasks_server: Server) -> None:
    with Client(tasks_server.http_url, "pairs") as client, pytest.raises(ValueError, match="3 text, 1 text_pair"):
        client.classify_pairs(TEXTS, ["one"])


@pytest.mark.parametrize("url", ["ftp://127.0.0.1:8000", "127.0.0.1", "http://127.0.0.1:8000/v2", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(AddressError, match="write host:port"):
        Client(url, "sentiment")
