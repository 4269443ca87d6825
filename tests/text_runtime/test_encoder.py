"""The encoder's batching: each row gets its own answer, whatever it shares a batch with."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from text_runtime.batching import BatchingSettings
from text_runtime.encoder import EncoderRequest, TextEncoder
from text_runtime.manifest import EncoderFacts, Manifest, SourceFacts, TokenizerFacts

MANIFEST = Manifest(
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
    encoder.run([request_of(rows) for rows in requests], lambda *answer: answers.append(answer), False)
    assert sorted(index for index, _ in answers) == list(range(len(requests)))
    for index, output in answers:
        for row, lengths in enumerate(requests[index]):
            for column, length in enumerate(lengths):
                assert output[row, column].tolist() == [length, length * (row + 1)]
            assert np.isnan(output[row, len(lengths) :]).all()


def test_lengths_that_count_more_tokens_than_there_are_name_the_input() -> None:
    with pytest.raises(ValueError, match="'lengths'"):
        EncoderRequest(np.zeros((1, 4), dtype=np.int64), np.array([[5]], dtype=np.int32))
