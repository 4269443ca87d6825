"""Reads what the routers of all servers counted of each side of a canary."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from text_runtime.routing.canary_metrics import PREFIX
from trireme.admin import Endpoint, scrape
from trireme.promotion.agreement import Agreement


@dataclass
class Side:
    """What one release did in a canary; `buckets` counts requests up to so many seconds.

    Of streams the seconds are those to the first token. `tokens` are all that was written, `gaps` those after the first
    of an answer, and `gap_s` the seconds between them.
    """

    requests: float = 0
    failures: float = 0
    buckets: Counter[float] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    tokens: float = 0
    gap_s: float = 0
    gaps: float = 0

    def minus(self, earlier: "Side") -> "Side":
        """What was added since."""
        buckets = Counter({bound: count - earlier.buckets[bound] for bound, count in self.buckets.items()})
        labels = Counter({label: count - earlier.labels[label] for label, count in self.labels.items()})
        tokens, gap_s, gaps = self.tokens - earlier.tokens, self.gap_s - earlier.gap_s, self.gaps - earlier.gaps
        counts = self.requests - earlier.requests, self.failures - earlier.failures
        return Side(*counts, buckets, labels, tokens, gap_s, gaps)

    @property
    def mean_gap_s(self) -> float:
        """Seconds between two tokens of an answer; 0 where answers are no streams."""
        return self.gap_s / self.gaps if self.gaps else 0.0

    @property
    def mean_tokens(self) -> float:
        """Tokens of an answer; 0 where answers are no streams."""
        answered = self.requests - self.failures
        return self.tokens / answered if answered > 0 else 0.0

    @property
    def failure_rate(self) -> float:
        """Failures by request."""
        return self.failures / self.requests if self.requests else 0.0

    def percentile_s(self, share: float) -> float:
        """The duration that a share of the requests stayed under, interpolated within its bucket; 0 of none.

        A router sends its counters one by one: the buckets' own largest count is the whole, not `requests`.
        """
        wanted, below_s, below = share * max(self.buckets.values(), default=0), 0.0, 0.0
        for bound in sorted(self.buckets):
            count = self.buckets[bound]
            if count >= wanted and count > below:
                width = bound - below_s if bound != float("inf") else 0.0
                return below_s + width * (wanted - below) / (count - below)
            below_s, below = bound, count
        return 0.0


@dataclass
class CanaryCounts:
    """Both sides by release, and how far their answers to the same texts agree."""

    sides: dict[int, Side]
    agreement: Agreement = Agreement()


def read_counts(targets: Sequence[Endpoint], pipeline: str, releases: Sequence[int]) -> CanaryCounts:
    """The sum over all servers.

    Raises:
        ServerError: a metrics port cannot be read.
    """
    counts = CanaryCounts({release: Side() for release in releases})
    for target in targets:
        for sample in scrape(target.metrics_url):
            if sample.name.startswith(f"{PREFIX}_") and sample.labels.get("pipeline") == pipeline:
                _add(counts, sample.name.removeprefix(f"{PREFIX}_"), sample.labels, sample.value)
    return counts


def _add(counts: CanaryCounts, family: str, labels: dict[str, str], value: float) -> None:
    if family in ("agreement_total", "compared_total"):
        counts.agreement += Agreement(total=value) if family == "agreement_total" else Agreement(texts=int(value))
        return
    side = counts.sides.get(int(labels["release"]))
    if side is None:
        return
    if family == "requests_total":
        side.requests += value
    elif family == "failures_total":
        side.failures += value
    elif family == "duration_seconds_bucket":
        side.buckets[float(labels["le"])] += value  # type: ignore[assignment]
    elif family == "tokens_total":
        side.tokens += value
    elif family == "gap_seconds_sum":
        side.gap_s += value
    elif family == "gaps_total":
        side.gaps += value
    elif family == "labels_total":
        side.labels[labels["label"]] += value  # type: ignore[assignment]
