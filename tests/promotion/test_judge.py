"""The verdict on a canary, from what both sides did."""

from collections import Counter

import pytest

from promotion.judge import Thresholds, compare
from promotion.metrics import Side


def side(requests: int, failures: int = 0, seconds: float = 0.01, share: float = 0.5) -> Side:
    """A side whose requests all took up to so many seconds."""
    buckets = Counter({bound: requests * (bound >= seconds) for bound in (0.01, 0.02, 0.05, float("inf"))})
    labels = Counter({"good": int(requests * share), "bad": requests - int(requests * share)})
    return Side(requests, failures, buckets, labels)


@pytest.mark.parametrize(
    ("candidate", "refused"),
    [
        (side(1000), set()),
        (side(1000, failures=5), {"failure rate"}),
        (side(1000, seconds=0.05), {"p99 seconds"}),
        (side(1000, share=0.9), {"label shift"}),
        (side(20), {"requests"}),
    ],
    ids=["alike", "fails", "slow", "other labels", "too few"],
)
def test_a_candidate_fails_by_the_measure_that_got_worse(candidate: Side, refused: set[str]) -> None:
    findings = compare(side(1000), candidate, Thresholds())
    assert {finding.measure for finding in findings if not finding.is_passed} == refused


def test_a_percentile_is_read_within_its_bucket() -> None:
    assert side(100, seconds=0.02).percentile_s(0.99) == pytest.approx(0.02, abs=0.001)
    assert Side().percentile_s(0.99) == 0
