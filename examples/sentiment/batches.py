"""Batches of token ids: reviews of like length together, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examples.sentiment.vocabulary import CLS_ID, MASK_ID, PAD_ID, SEP_ID, SPECIAL_TOKENS

Ids = NDArray[np.int64]

_MASKED_SHARE = 0.15
_CHUNK_BATCHES = 50


@dataclass(frozen=True)
class MaskedBatch:
    """A batch with tokens hidden: what the model sees, the flat places of the hidden tokens, and the tokens."""

    input_ids: Ids
    places: Ids
    tokens: Ids


def bucketed(lengths: Ids, batch_size: int, random: np.random.Generator) -> Iterator[Ids]:
    """Indices of one epoch's batches, shuffled; each batch is cut from a chunk sorted by length."""
    order = random.permutation(len(lengths))
    chunk = batch_size * _CHUNK_BATCHES
    batches: list[Ids] = []
    for start in range(0, len(order), chunk):
        part = order[start : start + chunk]
        part = part[np.argsort(lengths[part], kind="stable")]
        batches += [part[i : i + batch_size] for i in range(0, len(part), batch_size)]
    yield from (batches[i] for i in random.permutation(len(batches)))


def pad(sequences: list[list[int]], max_length: int) -> Ids:
    """Input ids [batch, longest]: `[CLS]`, at most `max_length - 2` tokens, `[SEP]`, padding."""
    rows = [[CLS_ID, *sequence[: max_length - 2], SEP_ID] for sequence in sequences]
    batch = np.full((len(rows), max(map(len, rows))), PAD_ID, dtype=np.int64)
    for row, ids in zip(batch, rows, strict=True):
        row[: len(ids)] = ids
    return batch


def crop(sequence: list[int], length: int, random: np.random.Generator) -> list[int]:
    """A run of at most `length` tokens from anywhere in the sequence."""
    start = int(random.integers(0, max(len(sequence) - length, 0) + 1))
    return sequence[start : start + length]


def thin(sequence: list[int], share: float, random: np.random.Generator) -> list[int]:
    """The sequence with each token left out by chance `share`, never empty."""
    kept = random.random(len(sequence)) >= share
    return [token for token, keep in zip(sequence, kept, strict=True) if keep] or sequence[:1]


def mask(input_ids: Ids, vocabulary_size: int, random: np.random.Generator) -> MaskedBatch:
    """Hide 15% of the tokens: 8 of 10 as `[MASK]`, 1 as another token, 1 as itself (Devlin et al. 2019)."""
    chosen = (random.random(input_ids.shape) < _MASKED_SHARE) & (input_ids >= len(SPECIAL_TOKENS))
    places = np.flatnonzero(chosen)
    seen = input_ids.ravel().copy()
    dice = random.random(len(places))
    seen[places[dice < 0.8]] = MASK_ID
    swapped = places[dice >= 0.9]
    seen[swapped] = random.integers(len(SPECIAL_TOKENS), vocabulary_size, len(swapped))
    return MaskedBatch(seen.reshape(input_ids.shape), places, input_ids.ravel()[places])
