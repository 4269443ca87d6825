"""How far two answers are the same, as a number from 0 to 1: what the tasks' own measures are made of."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

_SHORTEST = 1e-12


def closeness(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> float:
    """1 less the largest difference of two rows of numbers, relative where they are above 1; 0 for rows of other widths
    and for what is no number."""
    one, other = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    if one.shape != other.shape or not (np.isfinite(one).all() and np.isfinite(other).all()):
        return 0.0
    scale = np.maximum(1.0, np.maximum(np.abs(one), np.abs(other)))
    return max(0.0, 1.0 - float((np.abs(one - other) / scale).max(initial=0.0)))


def cosine(ours: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> float:
    """The cosine of two vectors, 0 where it is negative; 0 for other dimensions and for what is no number."""
    if ours.shape != theirs.shape or not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        return 0.0
    lengths = float(np.linalg.norm(ours)) * float(np.linalg.norm(theirs))
    return max(0.0, min(1.0, float(ours @ theirs) / max(lengths, _SHORTEST)))


def f1(ours: AbstractSet[Any], theirs: AbstractSet[Any]) -> float | None:
    """Twice what both found, by all that either found; None where neither found anything."""
    total = len(ours) + len(theirs)
    return 2 * len(ours & theirs) / total if total else None


def mean(values: Iterable[float]) -> float:
    """The mean; 0 of nothing."""
    known = list(values)
    return sum(known) / len(known) if known else 0.0
