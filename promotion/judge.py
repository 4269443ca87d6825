"""Judges a canary by what both sides did in the same minutes: failures, slowest requests, and labels."""

import time
from dataclasses import asdict, dataclass
from typing import Any

from promotion.ledger import Entry
from promotion.metrics import CanaryCounts, Side, read_counts
from promotion.promoter import promoting
from promotion.spec import PromotionSpec
from trireme.errors import PromotionError


@dataclass(frozen=True)
class Thresholds:
    """How much worse than the current release a candidate may be. Rates and shifts are between 0 and 1."""

    failure_rate: float = 0.001
    p99_ratio: float = 1.5
    label_shift: float = 0.1
    requests: int = 200

    def __post_init__(self) -> None:
        if not (0 <= self.failure_rate <= 1 and 0 <= self.label_shift <= 1 and self.p99_ratio > 0):
            raise ValueError(f"thresholds out of range: {self}")


@dataclass(frozen=True)
class Finding:
    """One measure of both sides against its limit."""

    measure: str
    current: float
    candidate: float
    limit: float
    is_passed: bool


def judge_canary(spec: PromotionSpec, release: int, seconds: float, limits: Thresholds) -> tuple[Entry, list[Finding]]:
    """Watch a canary that runs, then promote it or roll it back.

    The lock is not held while watching, so that a person can roll back at any time.

    Raises:
        PromotionError: the canary was ended by somebody else meanwhile.
    """
    findings = watch(spec, release, seconds, limits)
    with promoting(spec) as promoter:
        if spec.disk.layout().traffic.candidate != release:
            problem = f"release {release} is no canary any more"
            raise PromotionError(spec.pipeline, problem, "see `trireme history`")
        evidence: dict[str, Any] = {"judge": [asdict(finding) for finding in findings]}
        if all(finding.is_passed for finding in findings):
            return promoter.promote(release, evidence), findings
        return promoter.rollback(evidence), findings


def watch(spec: PromotionSpec, release: int, seconds: float, limits: Thresholds) -> list[Finding]:
    """Compare both sides over some seconds."""
    current = spec.disk.layout().traffic.current
    targets = spec.targets()
    before = read_counts(targets, spec.pipeline, (current, release))
    time.sleep(seconds)
    after = read_counts(targets, spec.pipeline, (current, release))
    ours, theirs = (_added(before, after, number) for number in (current, release))
    return compare(ours, theirs, limits)


def compare(current: Side, candidate: Side, limits: Thresholds) -> list[Finding]:
    """A finding for each measure; too few requests on either side fail, whatever they show."""
    fewest = min(current.requests, candidate.requests)
    rates = current.failure_rate, candidate.failure_rate
    p99s = current.percentile_s(0.99), candidate.percentile_s(0.99)
    shift = label_shift(current, candidate)
    return [
        Finding("requests", current.requests, candidate.requests, limits.requests, fewest >= limits.requests),
        Finding("failure rate", *rates, rates[0] + limits.failure_rate, rates[1] <= rates[0] + limits.failure_rate),
        Finding("p99 seconds", *p99s, p99s[0] * limits.p99_ratio, p99s[1] <= p99s[0] * limits.p99_ratio),
        Finding("label shift", 0.0, shift, limits.label_shift, shift <= limits.label_shift),
    ]


def label_shift(current: Side, candidate: Side) -> float:
    """Half the sum of the differences of the labels' shares: 0 for equal distributions, 1 for disjoint ones."""
    ours, theirs = current.labels.total(), candidate.labels.total()
    if not ours or not theirs:
        return 0.0
    labels = current.labels.keys() | candidate.labels.keys()
    return sum(abs(current.labels[label] / ours - candidate.labels[label] / theirs) for label in labels) / 2


def _added(before: CanaryCounts, after: CanaryCounts, release: int) -> Side:
    return after.sides[release].minus(before.sides[release])
