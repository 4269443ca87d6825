"""Rows of equal length for an encoder that cannot batch unequal ones: padded to buckets, and answered in runs.

Triton merges neighbours of the queue only where their shapes are equal (TensorRT plans take no ragged rows). So the
tokenizer pads every row to one of a few lengths, and sends the answers of an execution bucket by bucket: what was one
mixed queue becomes runs of equal shapes, which the batcher in front of the encoder merges.
"""

import bisect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from text_runtime.tasks.base import Tensors
from text_runtime.tensors import ATTENTION_MASK, INPUT_IDS, SPANS, TOKEN_TYPE_IDS

_SHORTEST = 32
_NOBODYS = -1


def buckets_up_to(longest: int) -> tuple[int, ...]:
    """Lengths that double, the last of them `longest` itself: 32, 64, 128, 200 for 200.

    Few buckets make long runs; doubling keeps the padding of any row above the shortest bucket below half.
    """
    found = []
    width = _SHORTEST
    while width < longest:
        found.append(width)
        width *= 2
    return (*found, longest)


class Buckets:
    """Pads tensors to the lengths of a release, and puts answers in an order whose runs are long.

    Args:
        lengths: the buckets, ascending.
        pad_token_id: what `input_ids` are padded with; the graph or the attention mask tells it from a token.
    """

    def __init__(self, lengths: Sequence[int], pad_token_id: int) -> None:
        self._lengths = lengths
        fills = {INPUT_IDS: pad_token_id, TOKEN_TYPE_IDS: 0, ATTENTION_MASK: 0, SPANS: _NOBODYS}
        self._fills = {tensor.name: fill for tensor, fill in fills.items()}
        self._last = 0

    def pad(self, tensors: Tensors) -> Mapping[str, np.ndarray[Any, Any]]:
        """One request's tensors, those with an entry for every token padded to the bucket of its longest row."""
        width = self._lengths[bisect.bisect_left(self._lengths, tensors[INPUT_IDS.name].shape[1])]
        return {
            name: _padded(array, width, self._fills[name]) if name in self._fills else array
            for name, array in tensors.items()
        }

    def order(self, widths: Sequence[int]) -> list[int]:
        """The order in which to answer an execution's requests, whose padded lengths are `widths`.

        Requests of one bucket follow each other. The first are those of the bucket with which the last execution ended,
        and the last are the most frequent of the others: so that a run goes on from one execution to the next.
        """
        if not widths:  # every request of the execution was refused
            return []
        counts = {width: widths.count(width) for width in sorted(set(widths))}
        groups = sorted(counts, key=lambda width: (width != self._last, counts[width]))
        self._last = groups[-1]
        rank = {width: place for place, width in enumerate(groups)}
        return sorted(range(len(widths)), key=lambda index: rank[widths[index]])


def _padded(array: np.ndarray[Any, Any], width: int, fill: int) -> np.ndarray[Any, Any]:
    if array.shape[1] == width:
        return array
    padded = np.full((array.shape[0], width, *array.shape[2:]), fill, dtype=array.dtype)
    padded[:, : array.shape[1]] = array
    return padded
