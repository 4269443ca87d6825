"""Where a value stands on an axis, which values are named below it, and how numbers are written."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TICKS_MAX = 4
_MANY_DECADES = 100.0
_FLATTENED = 5.0
_MARGIN = 0.08
_STEPS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers, `start` below `end`; a logarithmic one starts above zero."""

    start: float
    end: float
    is_logarithmic: bool = False

    def __post_init__(self) -> None:
        if self.start >= self.end or (self.is_logarithmic and self.start <= 0):
            raise ValueError(f"an axis cannot run from {self.start} to {self.end}")

    @property
    def is_from_zero(self) -> bool:
        """Whether a bar's length is its value: only then may bars be compared by their lengths."""
        return self.start == 0

    @property
    def caution(self) -> str:
        """What a reader must know who takes lengths for values; empty where they are."""
        return "logarithmic axis" if self.is_logarithmic else "" if self.is_from_zero else "axis starts above zero"

    def place(self, value: float) -> float:
        """Where a value stands, between 0 and 1."""
        if self.is_logarithmic:
            found = math.log(max(value, self.start) / self.start) / math.log(self.end / self.start)
        else:
            found = (value - self.start) / (self.end - self.start)
        return min(1.0, max(0.0, found))

    def ticks(self) -> list[float]:
        """A few round numbers on the axis."""
        return self._powers() if self.is_logarithmic else self._multiples()

    def _multiples(self) -> list[float]:
        found: list[float] = []
        for step in _round_steps((self.end - self.start) / _TICKS_MAX):
            first, last = math.ceil(self.start / step - 1e-9), math.floor(self.end / step + 1e-9)
            found = [number * step for number in range(first, last + 1)]
            if len(found) <= _TICKS_MAX:
                break
        return found

    def _powers(self) -> list[float]:
        for factors in ((1, 2, 5), (1, 3), (1,)):
            found = [value for value in _decades(self.start, self.end, factors) if self.start <= value <= self.end]
            if len(found) <= _TICKS_MAX:
                return found
        return found[:: math.ceil(len(found) / _TICKS_MAX)]


def axis_from_zero(values: Sequence[float]) -> Axis:
    """An axis for what bars can show; a logarithmic one where one value would flatten the others.

    That is where values span two decades, or the largest is five times the one in the middle.
    """
    positive = sorted(value for value in values if value > 0)
    if not positive:
        return Axis(0.0, 1.0)
    smallest, middle, largest = positive[0], positive[len(positive) // 2], positive[-1]
    if largest >= _MANY_DECADES * smallest or largest >= _FLATTENED * middle:
        return Axis(_below(smallest), largest, is_logarithmic=True)
    return Axis(0.0, largest)


def axis_of_close_values(values: Sequence[float]) -> Axis:
    """An axis that does not start at zero, for values whose small differences matter: agreement, a metric."""
    smallest, largest = min(values), max(values)
    span = (largest - smallest) or abs(largest) or 1.0
    return Axis(smallest - _MARGIN * span, largest + _MARGIN * span * (smallest == largest))


def number(value: float) -> str:
    """A value with three figures that matter, thousands in groups."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{1 if abs(value) >= 10 else 2}f}"


def ratio(value: float, base: float) -> str:
    """How many times a base a value is, as `2.3×`."""
    found = value / base
    return f"{found:.2f}×" if found < 0.995 else f"{found:.1f}×" if found < 9.95 else f"{found:,.0f}×"


def _round_steps(least: float) -> Iterator[float]:
    """Round numbers from another number on."""
    power = 10 ** math.floor(math.log10(least))
    yield from (power * step for step in _STEPS if power * step >= least)


def _below(value: float) -> float:
    """A round number clearly below a value, so that its own bar can be seen."""
    power = 10 ** math.floor(math.log10(value / 1.5))
    return max(float(power * factor) for factor in (1, 2, 5) if power * factor <= value / 1.5)


def _decades(start: float, end: float, factors: Sequence[int]) -> Iterator[float]:
    for exponent in range(math.floor(math.log10(start)), math.ceil(math.log10(end)) + 1):
        yield from (float(factor * 10**exponent) for factor in factors)
