"""Length-aware batching: which rows run together, and to what length they are padded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class BatchingSettings:
    """How sub-batches are cut. Defaults were chosen by measurement; see the decision log.

    `token_budget` bounds the padded tokens (rows x padded length) of one sub-batch, `bucket_step` is the multiple to
    which lengths are padded, `max_rows` bounds the rows of one sub-batch.
    """

    token_budget: int = 1024
    bucket_step: int = 16
    max_rows: int = 16

    def __post_init__(self) -> None:
        for name in ("token_budget", "bucket_step", "max_rows"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")


@dataclass(frozen=True)
class SubBatch:
    """Rows (by their index in the execution) that run together, padded to `padded_length` tokens."""

    rows: tuple[int, ...]
    padded_length: int


def bucket_of(length: int, step: int, longest: int) -> int:
    """The padded length of a row: the next multiple of `step`, but never above the longest that the model takes."""
    return min(-(-length // step) * step, max(longest, length))


def cut(lengths: Sequence[int], settings: BatchingSettings, longest: int) -> list[SubBatch]:
    """Sort rows by length and cut them into sub-batches of one bucket's padding under the token budget.

    Args:
        lengths: tokens of every row of the execution.
        settings: the bounds.
        longest: the longest row that the model takes, in tokens.
    """
    batches: list[SubBatch] = []
    pending: list[int] = []
    width = 0
    for index in np.argsort(lengths, kind="stable")[::-1].tolist():
        if pending and (len(pending) + 1 > settings.max_rows or (len(pending) + 1) * width > settings.token_budget):
            batches.append(SubBatch(tuple(pending), width))
            pending = []
        if not pending:
            width = bucket_of(lengths[index], settings.bucket_step, longest)
        pending.append(index)
    return [*batches, SubBatch(tuple(pending), width)] if pending else batches
