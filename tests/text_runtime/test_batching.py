"""Length-aware batching."""

from hypothesis import given
from hypothesis import strategies as st

from text_runtime.batching import BatchingSettings, bucket_of, cut

LONGEST = 128
LENGTHS = st.lists(st.integers(1, LONGEST), max_size=200)
SETTINGS = st.builds(
    BatchingSettings,
    token_budget=st.integers(1, 4096),
    bucket_step=st.integers(1, 64),
    max_rows=st.integers(1, 64),
)


@given(LENGTHS, SETTINGS)
def test_every_row_is_in_exactly_one_sub_batch(lengths: list[int], settings: BatchingSettings) -> None:
    batches = cut(lengths, settings, LONGEST)
    assert sorted(row for batch in batches for row in batch.rows) == list(range(len(lengths)))


@given(LENGTHS, SETTINGS)
def test_no_row_is_longer_than_its_sub_batch(lengths: list[int], settings: BatchingSettings) -> None:
    for batch in cut(lengths, settings, LONGEST):
        assert max(lengths[row] for row in batch.rows) <= batch.padded_length <= LONGEST


@given(LENGTHS, SETTINGS)
def test_a_sub_batch_of_several_rows_keeps_the_bounds(lengths: list[int], settings: BatchingSettings) -> None:
    for batch in cut(lengths, settings, LONGEST):
        assert len(batch.rows) <= settings.max_rows
        assert len(batch.rows) == 1 or len(batch.rows) * batch.padded_length <= settings.token_budget


def test_a_bucket_is_the_next_multiple_but_never_above_the_longest_row() -> None:
    assert [bucket_of(length, 16, 120) for length in (1, 16, 17, 113, 120)] == [16, 16, 32, 120, 120]
