"""From the probabilities of starts and ends to spans, as PaddleNLP's `get_span` pairs them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from text_runtime.tasks.columns import Array

PROBABILITY_LIMIT = 0.5


@dataclass(frozen=True)
class Span:
    """One answer to a prompt: characters of the text, or of the prompt itself where the prompt offers choices.

    Characters of the prompt count backwards from -1, which is the blank between prompt and text.
    """

    start: int
    end: int
    score: float


def find_spans(probabilities: Array, offsets: Array) -> list[Span]:
    """The answers in one prompt's tokens, in order.

    Args:
        probabilities: FP32 [tokens, 2], start and end.
        offsets: INT32 [tokens, 2], characters of each token; negative ones lie in the prompt.
    """
    starts = np.flatnonzero(probabilities[:, 0] > PROBABILITY_LIMIT).tolist()
    ends = np.flatnonzero(probabilities[:, 1] > PROBABILITY_LIMIT).tolist()
    found = []
    for first, last in pair_up(starts, ends):
        start, end = int(offsets[first, 0]), int(offsets[last, 1])
        if start >= 0 or end < 0:  # never from the prompt into the text
            found.append(Span(start, end, float(probabilities[first, 0] * probabilities[last, 1])))
    return sorted(found, key=lambda span: (span.start, span.end))


def pair_up(starts: Sequence[int], ends: Sequence[int]) -> list[tuple[int, int]]:
    """Each end with the last start at or before it that no earlier end has passed. Both are in ascending order."""
    pairs = []
    position = 0
    for end in ends:
        chosen = None
        while position < len(starts) and starts[position] <= end:
            chosen = starts[position]
            position += 1
        if chosen is not None:
            pairs.append((chosen, end))
    return pairs
