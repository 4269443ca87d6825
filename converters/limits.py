"""How far a candidate may be from its source, by precision: the one table of tolerances."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Limits:
    """`difference` bounds `relative_difference` of any output from the source's; `agreement` is the smallest
    allowed share of answers that equal the source's (for scores and vectors, the smallest correlation or cosine)."""

    difference: float
    agreement: float


_BY_PRECISION = {
    "fp32": Limits(1e-4, 0.999),
    "fp16": Limits(2e-2, 0.999),
    "bf16": Limits(0.2, 0.99),
    "int8": Limits(1.0, 0.97),
    "int4": Limits(2.0, 0.95),
}

_PRUNED_AGREEMENT = 0.9
"""A pruned model is another function: what it may lose is `--max-drop`'s to say."""


def limits_of(precision: str, is_pruned: bool = False) -> Limits:
    """The limits of a precision; a pruned model's outputs are compared with the pruned source, its answers with the
    original."""
    limits = _BY_PRECISION[precision]
    return Limits(limits.difference, min(limits.agreement, _PRUNED_AGREEMENT)) if is_pruned else limits


def relative_difference(found: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> float:
    """The largest difference of two arrays of one shape, as the limits bound it.

    Absolute, and relative to the largest wanted value where that is above 1.
    """
    return float(np.abs(found - wanted).max() / max(1.0, float(np.abs(wanted).max())))


def precisions() -> list[str]:
    """Every precision that has limits."""
    return list(_BY_PRECISION)
