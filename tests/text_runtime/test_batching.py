"""Length-aware batching."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from text_runtime.encoder.batching import Batcher, BatchingSettings

LONGEST = 128
LENGTHS = st.lists(st.integers(1, LONGEST), max_size=200)
SETTINGS = st.builds(
    BatchingSettings,
    token_budget=st.integers(1, 4096),
    bucket_step=st.integers(1, 64),
    max_rows=st.integers(1, 64),
    overhead_tokens=st.integers(1, 256),
)
WORKERS = st.integers(1, 8)


@given(LENGTHS, SETTINGS, WORKERS)
def test_every_row_is_in_exactly_one_sub_batch(lengths: list[int], settings: BatchingSettings, workers: int) -> None:
    batches = Batcher(settings, LONGEST).cut(lengths, workers)
    assert sorted(row for batch in batches for row in batch.rows) == list(range(len(lengths)))


@given(LENGTHS, SETTINGS, WORKERS)
def test_no_row_is_longer_than_its_sub_batch(lengths: list[int], settings: BatchingSettings, workers: int) -> None:
    for batch in Batcher(settings, LONGEST).cut(lengths, workers):
        assert max(lengths[row] for row in batch.rows) <= batch.padded_length <= LONGEST


@given(LENGTHS, SETTINGS, WORKERS)
def test_every_sub_batch_has_a_shape_that_was_warmed(
    lengths: list[int], settings: BatchingSettings, workers: int
) -> None:
    batcher = Batcher(settings, LONGEST)
    shapes = set(batcher.shapes())
    assert all((len(batch.rows), batch.padded_length) in shapes for batch in batcher.cut(lengths, workers))


def test_rows_of_one_length_run_together() -> None:
    batches = Batcher(BatchingSettings(token_budget=1024, max_rows=16), LONGEST).cut([60] * 32)
    assert [(len(batch.rows), batch.padded_length) for batch in batches] == [(16, 64), (16, 64)]


def test_a_short_row_is_not_padded_to_a_long_one_for_the_sake_of_a_batch() -> None:
    batches = Batcher(BatchingSettings(overhead_tokens=16), LONGEST).cut([8, 128, 8])
    assert sorted(batch.padded_length for batch in batches) == [8, 128]


def test_several_workers_share_what_one_call_could_take() -> None:
    batcher = Batcher(BatchingSettings(), LONGEST)
    assert len(batcher.cut([64] * 8, workers=1)) == 1
    assert len(batcher.cut([64] * 8, workers=2)) == 2


def test_buckets_grow_with_the_length_so_that_padding_stays_a_small_share() -> None:
    batcher = Batcher(BatchingSettings(bucket_step=8), 512)
    buckets = sorted({batcher.bucket_of(length) for length in range(1, 513)})
    assert buckets[:3] == [8, 16, 24]
    assert buckets[-1] == 512
    assert all(wide - narrow <= max(8, narrow / 4) for narrow, wide in pairwise(buckets))
