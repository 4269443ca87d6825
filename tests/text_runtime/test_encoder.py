"""The encoder's batching: each row gets its own answer, whatever it shares a batch with."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from text_runtime.encoder.batching import BatchingSettings
from text_runtime.encoder.encoder import EncoderRequest, TextEncoder
from text_runtime.facts import EncoderFacts, SourceFacts, TokenizerFacts
from text_runtime.manifest import EncoderManifest

MANIFEST = EncoderManifest(
    pipeline="p",
    release=1,
    task="text-classification",
    width=2,
    created_at="",
    trireme_version="",
    source=SourceFacts("", "", "", {}),
    tokenizer=TokenizerFacts(max_length=64, pad_token_id=0),
    encoder=EncoderFacts("", "fp32", "", ("input_ids", "token_type_ids"), "logits"),
)
ROWS = st.lists(st.lists(st.integers(1, 20), min_size=1, max_size=2), min_size=1, max_size=4)


def count_and_sum(feeds: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """A graph whose answer tells which tokens it was given, and that padding was padding."""
    ids = feeds["input_ids"]
    return np.stack([(ids > 0).sum(axis=1), ids.sum(axis=1)], axis=1).astype(np.float32)


def unexpected(index: int, error: Exception) -> None:
    """Fails the test."""
    raise AssertionError(f"request {index} failed") from error


def request_of(rows: list[list[int]]) -> EncoderRequest:
    """Rows of windows of those lengths; every token is the row's number plus one."""
    tokens, windows = max(sum(row) for row in rows), max(len(row) for row in rows)
    ids, lengths = np.zeros((len(rows), tokens), dtype=np.int64), np.zeros((len(rows), windows), dtype=np.int32)
    for index, row in enumerate(rows):
        ids[index, : sum(row)] = index + 1
        lengths[index, : len(row)] = row
    return EncoderRequest(ids, lengths)


@given(st.lists(ROWS, min_size=1, max_size=8), st.integers(1, 200), st.integers(1, 20))
def test_every_request_gets_its_own_rows_once(requests: list[list[list[int]]], budget: int, step: int) -> None:
    encoder = TextEncoder(count_and_sum, MANIFEST, BatchingSettings(budget, step, 4))
    answers: list[tuple[int, npt.NDArray[Any]]] = []
    encoder.run([request_of(rows) for rows in requests], lambda *answer: answers.append(answer), unexpected, False)
    assert sorted(index for index, _ in answers) == list(range(len(requests)))
    for index, output in answers:
        for row, lengths in enumerate(requests[index]):
            for column, length in enumerate(lengths):
                assert output[row, column].tolist() == [length, length * (row + 1)]
            assert np.isnan(output[row, len(lengths) :]).all()


def test_lengths_that_count_more_tokens_than_there_are_name_the_input() -> None:
    with pytest.raises(ValueError, match="'lengths'"):
        EncoderRequest(np.zeros((1, 4), dtype=np.int64), np.array([[5]], dtype=np.int32))


def test_a_row_without_a_token_and_a_tensor_of_another_form_are_named() -> None:
    with pytest.raises(ValueError, match="'lengths': a row has no token"):
        EncoderRequest(np.zeros((2, 4), dtype=np.int64), np.array([[4], [0]], dtype=np.int32))
    with pytest.raises(ValueError, match=r"'input_ids' has the shape \[4\]"):
        EncoderRequest(np.zeros(4, dtype=np.int64), np.array([[4]], dtype=np.int32))


Outcomes = dict[int, npt.NDArray[Any] | Exception]


def outcomes_of(encoder: TextEncoder, requests: list[EncoderRequest]) -> Outcomes:
    """What came of each request; each has one outcome."""
    found: Outcomes = {}

    def note(index: int, outcome: npt.NDArray[Any] | Exception) -> None:
        assert index not in found
        found[index] = outcome

    encoder.run(requests, note, note, False)
    assert sorted(found) == list(range(len(requests)))
    return found


@pytest.mark.parametrize("workers", [1, 2])
@given(st.lists(st.tuples(ROWS, st.booleans()), min_size=1, max_size=12))
@settings(deadline=None)  # with two workers there are threads to wait for
def test_a_row_with_which_the_engine_fails_fails_its_own_request_only(
    workers: int, requests: list[tuple[list[list[int]], bool]]
) -> None:
    def engine(feeds: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        if (feeds["input_ids"] == 99).any():
            raise RuntimeError("99 was there")
        return count_and_sum(feeds)

    asked = []
    for rows, is_bad in requests:
        request = request_of(rows)
        if is_bad:
            request.input_ids[-1, 0] = 99
        asked.append(request)
    found = outcomes_of(TextEncoder(engine, MANIFEST, BatchingSettings(), workers), asked)
    for index, (rows, is_bad) in enumerate(requests):
        outcome = found[index]
        if is_bad:
            assert str(outcome) == "99 was there"
        else:
            assert not isinstance(outcome, Exception)
            assert outcome[0, 0].tolist() == [rows[0][0], rows[0][0]]


@pytest.mark.parametrize(
    ("ids", "types", "words"),
    [
        ([1, 30], [0, 0], "'input_ids', row 0: the model has no embedding for the id 30, only for 0 to 29"),
        ([-1, 2], [0, 0], "no embedding for the id -1"),
        ([1, 2], [0, 2], "'token_type_ids', row 0: the model has no embedding for the id 2, only for 0 to 1"),
    ],
)
def test_an_id_without_a_row_in_the_table_is_refused_and_what_lies_behind_the_tokens_is_not_looked_at(
    ids: list[int], types: list[int], words: str
) -> None:
    facts = replace(MANIFEST.encoder, token_rows=30, type_rows=2)
    encoder = TextEncoder(count_and_sum, replace(MANIFEST, encoder=facts), BatchingSettings())
    bad = EncoderRequest(np.array([ids]), np.array([[2]], dtype=np.int32), np.array([types]))
    padded = EncoderRequest(np.array([[5, 6, 77]]), np.array([[2]], dtype=np.int32))
    found = outcomes_of(encoder, [bad, padded])
    assert isinstance(found[0], ValueError)
    assert words in str(found[0])
    assert not isinstance(found[1], Exception)
    assert found[1][0, 0].tolist() == [2, 11]


def test_positions_are_counted_for_tokens_and_are_nought_for_padding() -> None:
    seen = []

    def engine(feeds: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        seen.append({name: array.tolist() for name, array in feeds.items()})
        return np.zeros((len(feeds["input_ids"]), 2), dtype=np.float32)

    facts = replace(MANIFEST.encoder, inputs=("input_ids", "position_ids", "attention_mask"))
    encoder = TextEncoder(engine, replace(MANIFEST, encoder=facts), BatchingSettings(bucket_step=4))
    outcomes_of(encoder, [request_of([[4]]), request_of([[3]])])
    assert seen == [
        {
            "input_ids": [[1, 1, 1, 1], [1, 1, 1, 0]],
            "position_ids": [[0, 1, 2, 3], [0, 1, 2, 0]],
            "attention_mask": [[1, 1, 1, 1], [1, 1, 1, 0]],
        }
    ]
