"""Judges a canary by what both sides did in the same minutes: failures, slowest requests, labels, and how far their
answers to the same texts agree.

What cannot be told is held against the candidate: too few requests, or none whose answers could be compared.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trireme.errors import PromotionError
from trireme.promotion.agreement import MIN_AGREEMENT, MIN_COMPARED, Agreement
from trireme.promotion.ledger import Entry
from trireme.promotion.metrics import CanaryCounts, Side, read_counts
from trireme.promotion.promoter import promoting
from trireme.promotion.spec import PromotionSpec

REQUESTS, COMPARED, AGREEMENT = "requests", "compared texts", "agreement"


@dataclass(frozen=True)
class Thresholds:
    """How much worse than the current release a candidate may be. Rates, shifts and agreements are from 0 to 1.

    `requests` are what each side must have answered, `compared` the texts that both must have.
    """

    failure_rate: float = 0.001
    p99_ratio: float = 1.5
    label_shift: float = 0.1
    requests: int = 200
    agreement: float = MIN_AGREEMENT
    compared: int = MIN_COMPARED
    length_ratio: float = 1.5

    def __post_init__(self) -> None:
        shares, counts = (self.failure_rate, self.label_shift, self.agreement), (self.requests, self.compared)
        if not all(0 <= share <= 1 for share in shares) or min(self.p99_ratio, *counts) < 0:
            raise ValueError(f"thresholds out of range: {self}")


@dataclass(frozen=True)
class Measure:
    """One measure of both sides against its limit."""

    measure: str
    current: float
    candidate: float
    limit: float
    is_passed: bool

    def __str__(self) -> str:
        if self.measure == REQUESTS:
            fewest = min(self.current, self.candidate)
            return f"too few requests to judge by ({fewest:g} on one side, {self.limit:g} are needed; watch longer)"
        if self.measure == COMPARED:
            return f"too few answers to compare ({self.candidate:g} texts, {self.limit:g} are needed; watch longer)"
        if self.measure == AGREEMENT:
            return f"agreement {self.candidate:.4g} is below {self.limit:.4g}"
        return f"{self.measure} {self.candidate:.4g} is above {self.limit:.4g}"


@dataclass(frozen=True)
class Verdict:
    """What was found, and the move that followed from it."""

    findings: list[Measure]
    entry: Entry

    @property
    def is_passed(self) -> bool:
        """Whether the candidate was promoted."""
        return not self.reason

    @property
    def reason(self) -> str:
        """Why it was rolled back; empty if it was not."""
        return reason_against(self.findings)


def judge_canary(spec: PromotionSpec, release: int, seconds: float, limits: Thresholds) -> Verdict:
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
        reason = reason_against(findings)
        if reason:
            return Verdict(findings, promoter.rollback(evidence | {"reason": reason}))
        return Verdict(findings, promoter.promote(release, evidence))


def reason_against(findings: Sequence[Measure]) -> str:
    """Why a candidate may not be promoted; empty if it may."""
    return "; ".join(str(finding) for finding in findings if not finding.is_passed)


def watch(spec: PromotionSpec, release: int, seconds: float, limits: Thresholds) -> list[Measure]:
    """Compare both sides over some seconds."""
    current = spec.disk.layout().traffic.current
    targets = spec.targets()
    before = read_counts(targets, spec.pipeline, (current, release))
    time.sleep(seconds)
    after = read_counts(targets, spec.pipeline, (current, release))
    ours, theirs = (_added(before, after, number) for number in (current, release))
    return compare(ours, theirs, after.agreement - before.agreement, limits)


def compare(current: Side, candidate: Side, agreement: Agreement, limits: Thresholds) -> list[Measure]:
    """A finding for each measure; too few requests or compared texts fail, whatever they show.

    Labels are measured where the task has any.
    """
    fewest = min(current.requests, candidate.requests)
    rates = current.failure_rate, candidate.failure_rate
    p99s = current.percentile_s(0.99), candidate.percentile_s(0.99)
    return [
        Measure(REQUESTS, current.requests, candidate.requests, limits.requests, fewest >= limits.requests),
        Measure("failure rate", *rates, rates[0] + limits.failure_rate, rates[1] <= rates[0] + limits.failure_rate),
        Measure("p99 seconds", *p99s, p99s[0] * limits.p99_ratio, p99s[1] <= p99s[0] * limits.p99_ratio),
        *_label_findings(current, candidate, limits),
        *_stream_findings(current, candidate, limits),
        *_agreement_findings(agreement, limits),
    ]


def _label_findings(current: Side, candidate: Side, limits: Thresholds) -> list[Measure]:
    if not current.labels.total() + candidate.labels.total():
        return []
    shift = label_shift(current, candidate)
    return [Measure("label shift", 0.0, shift, limits.label_shift, shift <= limits.label_shift)]


def _stream_findings(current: Side, candidate: Side, limits: Thresholds) -> list[Measure]:
    """Of streams: the seconds between tokens, and how much longer or shorter answers have become."""
    if not current.gaps + candidate.gaps:
        return []
    gaps, tokens = (current.mean_gap_s, candidate.mean_gap_s), (current.mean_tokens, candidate.mean_tokens)
    longest = gaps[0] * limits.p99_ratio
    shift = max(tokens) / max(min(tokens), 1e-9)
    return [
        Measure("seconds between tokens", *gaps, longest, 0 < gaps[1] <= longest),
        Measure("ratio of answer lengths", 1.0, shift, limits.length_ratio, shift <= limits.length_ratio),
    ]


def _agreement_findings(agreement: Agreement, limits: Thresholds) -> list[Measure]:
    texts, mean = agreement.texts, agreement.mean
    return [
        Measure(COMPARED, texts, texts, limits.compared, texts >= max(1, limits.compared)),
        Measure(AGREEMENT, 1.0, mean, limits.agreement, mean >= limits.agreement),
    ]


def label_shift(current: Side, candidate: Side) -> float:
    """Half the sum of the differences of the labels' shares: 0 for equal distributions, 1 for disjoint ones, and where
    only one side gave any label."""
    ours, theirs = max(1, current.labels.total()), max(1, candidate.labels.total())
    labels = current.labels.keys() | candidate.labels.keys()
    shift = sum(abs(current.labels[label] / ours - candidate.labels[label] / theirs) for label in labels) / 2
    return shift if current.labels.total() and candidate.labels.total() else 1.0


def _added(before: CanaryCounts, after: CanaryCounts, release: int) -> Side:
    return after.sides[release].minus(before.sides[release])
