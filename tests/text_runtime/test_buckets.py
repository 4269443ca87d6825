"""Padding to buckets, and the order of answers that makes long runs of one length."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from text_runtime.encoder.buckets import Buckets, buckets_up_to
from text_runtime.facts import TokenizerFacts

BUCKETS = (4, 8, 16)
EXECUTIONS = st.lists(st.lists(st.sampled_from(BUCKETS), min_size=1, max_size=12), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("longest", "expected"), [(256, (32, 64, 128, 256)), (200, (32, 64, 128, 200)), (32, (32,)), (20, (20,))]
)
def test_buckets_double_up_to_the_longest_row(longest: int, expected: tuple[int, ...]) -> None:
    assert buckets_up_to(longest) == expected


@pytest.mark.parametrize(("tokens", "bucket"), [(1, 4), (4, 4), (5, 8), (16, 16)])
def test_a_request_is_padded_to_the_bucket_of_its_longest_row(tokens: int, bucket: int) -> None:
    tensors = {
        "input_ids": np.full((3, tokens), 7, dtype=np.int64),
        "attention_mask": np.ones((3, tokens), dtype=np.int64),
        "spans": np.zeros((3, tokens, 3), dtype=np.int32),
        "truncated_chars": np.zeros((3, 1), dtype=np.int32),
    }
    padded = Buckets(BUCKETS, pad_token_id=1).pad(tensors)
    assert {name: array.shape for name, array in padded.items()} == {
        "input_ids": (3, bucket),
        "attention_mask": (3, bucket),
        "spans": (3, bucket, 3),
        "truncated_chars": (3, 1),
    }
    assert (padded["input_ids"][:, :tokens] == 7).all()
    assert (padded["input_ids"][:, tokens:] == 1).all()
    assert not padded["attention_mask"][:, tokens:].any()
    assert (padded["spans"][:, tokens:] == -1).all()
    assert {array.dtype for array in padded.values()} == {np.dtype(np.int64), np.dtype(np.int32)}


@given(EXECUTIONS)
def test_each_request_is_answered_once_and_each_bucket_in_one_run(executions: list[list[int]]) -> None:
    buckets = Buckets(BUCKETS, pad_token_id=0)
    for widths in executions:
        order = buckets.order(widths)
        assert sorted(order) == list(range(len(widths)))
        assert len(list(groupby(order, key=lambda index: widths[index]))) == len(set(widths))


@given(EXECUTIONS)
def test_a_run_goes_on_from_one_execution_to_the_next(executions: list[list[int]]) -> None:
    buckets, last = Buckets(BUCKETS, pad_token_id=0), 0
    for widths in executions:
        answered = [widths[index] for index in buckets.order(widths)]
        assert last not in widths or answered[0] == last
        last = answered[-1]


def test_requests_of_one_bucket_keep_their_order() -> None:
    assert Buckets(BUCKETS, 0).order([8, 4, 8, 4, 8]) == [1, 3, 0, 2, 4]


@pytest.mark.parametrize("buckets", [(8, 4), (4, 4), (4,)])
def test_buckets_that_do_not_ascend_to_the_longest_row_are_refused(buckets: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="buckets"):
        TokenizerFacts(max_length=8, pad_token_id=0, buckets=buckets)


def test_an_execution_of_refused_requests_alone_has_no_order() -> None:
    assert Buckets((32, 64), 0).order([]) == []
