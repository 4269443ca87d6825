"""How far a candidate may be from its source, by precision: the one table of tolerances."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """`difference` bounds the absolute difference of any output from the source's; `agreement` is the smallest
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


def precisions() -> list[str]:
    """Every precision that has limits."""
    return list(_BY_PRECISION)
