"""Length-aware batching: which rows run together, and to what length they are padded."""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

_ROWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Row counts that a sub-batch may have: few enough to warm every one, close enough to waste no row."""

_STEPS_BEFORE_DOUBLING = 12
"""A bucket step doubles after so many steps, so that padding stays the same share of long rows and of short ones."""


@dataclass(frozen=True)
class BatchingSettings:
    """How sub-batches are cut. Defaults were chosen by measurement; see the decision log.

    `token_budget` bounds the padded tokens (rows x padded length) of one sub-batch, `bucket_step` is the multiple to
    which short rows are padded, `max_rows` bounds the rows of one sub-batch, `overhead_tokens` is what one more call of
    the engine costs, in tokens.
    """

    token_budget: int = 1024
    bucket_step: int = 4
    max_rows: int = 16
    overhead_tokens: int = 16

    def __post_init__(self) -> None:
        for name in SETTINGS:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")


SETTINGS = tuple(field.name for field in fields(BatchingSettings))
"""What an encoder's config may set of them, as `parameters`."""


@dataclass(frozen=True)
class SubBatch:
    """Rows (by their index in the execution) that run together, padded to `padded_length` tokens."""

    rows: tuple[int, ...]
    padded_length: int


class Batcher:
    """Cuts the rows of an execution into the sub-batches that cost least."""

    def __init__(self, settings: BatchingSettings, longest: int) -> None:
        self._settings = settings
        self._longest = longest
        self._row_counts = [count for count in _ROWS if count <= settings.max_rows]
        self._buckets = _buckets(settings.bucket_step, longest)

    def bucket_of(self, length: int) -> int:
        """The padded length of a row of `length` tokens; a row above the longest is padded to itself."""
        return length if length > self._longest else self._buckets[bisect.bisect_left(self._buckets, length)]

    def shapes(self) -> list[tuple[int, int]]:
        """Every (rows, padded length) that a sub-batch can have, the largest first."""
        budget = self._settings.token_budget
        fitting = [(n, width) for width in self._buckets for n in self._row_counts if n == 1 or n * width <= budget]
        return sorted(fitting, key=lambda shape: shape[0] * shape[1], reverse=True)

    def cut(self, lengths: Sequence[int], workers: int = 1) -> list[SubBatch]:
        """The cut of the sorted rows with the fewest padded tokens, counting each call's overhead as tokens.

        Dynamic programming over the rows sorted from long to short: the best cut of the first `end` rows is the best
        cut of the first `start` plus one sub-batch, whose width is that of row `start`. With several workers the
        budget shrinks so that each gets a share.
        """
        order = np.argsort(lengths, kind="stable")[::-1].tolist()
        widths = [self.bucket_of(lengths[index]) for index in order]
        budget = min(self._settings.token_budget, -(-sum(widths) // workers))
        starts = self._best_starts(widths, budget)
        batches, end = [], len(order)
        while end:
            start = starts[end]
            batches.append(SubBatch(tuple(order[start:end]), widths[start]))
            end = start
        return batches[::-1]

    def _best_starts(self, widths: Sequence[int], budget: int) -> list[int]:
        """For every prefix of the rows, where the last sub-batch of its best cut starts."""
        costs, starts = [0], [0]
        for end in range(1, len(widths) + 1):
            best_cost, best_start = costs[end - 1] + widths[end - 1], end - 1
            for count in self._row_counts[1:]:
                start = end - count
                if start < 0 or count * widths[start] > budget:
                    break
                cost = costs[start] + count * widths[start]
                if cost <= best_cost:
                    best_cost, best_start = cost, start
            costs.append(best_cost + self._settings.overhead_tokens)
            starts.append(best_start)
        return starts


def _buckets(step: int, longest: int) -> list[int]:
    """Padded lengths up to the longest row: multiples of `step`, then of twice that, and so on."""
    found, width = [], 0
    while width < longest:
        width = min(width + step, longest)
        found.append(width)
        if width >= _STEPS_BEFORE_DOUBLING * step:
            step *= 2
    return found
