"""What a run came to: one row a protocol, and every kind of failure with its count."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson
from rich.box import SIMPLE
from rich.console import Group
from rich.table import Table

_QUANTILES = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Writing:
    """How one protocol's answers were written: tokens a second of all users together, and milliseconds."""

    tokens_per_s: float
    first_token_ms: dict[str, float]
    between_tokens_ms: dict[str, float]


@dataclass(frozen=True)
class Row:
    """One protocol's requests. Latencies are milliseconds, as clients saw them; failed requests count too.

    `writing` is there for pipelines that write.
    """

    protocol: str
    requests: int
    failures: int
    requests_per_s: float
    rows_per_s: float
    latency_ms: dict[str, float]
    writing: Writing | None = None


@dataclass(frozen=True)
class Failure:
    """One kind of failure."""

    protocol: str
    count: int
    fault: str


@dataclass(frozen=True)
class Report:
    """A whole run."""

    pipeline: str
    users: int
    seconds: float
    rows: Sequence[Row]
    failures: Sequence[Failure]

    @property
    def is_passed(self) -> bool:
        """Whether every protocol was used and no request failed."""
        return bool(self.rows) and all(row.requests > 0 for row in self.rows) and not self.failures

    def to_json(self) -> bytes:
        """The report as indented JSON."""
        return orjson.dumps(asdict(self) | {"is_passed": self.is_passed}, option=orjson.OPT_INDENT_2)

    def to_tables(self) -> Group:
        """The report as a person reads it."""
        tables = [self._rows_table()]
        if any(row.writing for row in self.rows):
            tables.append(self._writing_table())
        return Group(*tables, *([self._failures_table()] if self.failures else []))

    def _rows_table(self) -> Table:
        quantiles = self.rows[0].latency_ms if self.rows else {}
        title = f"{self.pipeline}: {self.users} users, {self.seconds:.0f} s, latencies in ms"
        table = Table("protocol", title=title, box=SIMPLE, padding=0)
        for head in ("requests", "failed", "requests/s", "rows/s", *quantiles):
            table.add_column(head, justify="right")
        for row in self.rows:
            rates = [f"{row.requests_per_s:.1f}", f"{row.rows_per_s:.1f}"]
            latencies = [f"{value:.1f}" for value in row.latency_ms.values()]
            table.add_row(row.protocol, str(row.requests), str(row.failures), *rates, *latencies)
        return table

    def _writing_table(self) -> Table:
        table = Table("protocol", title="as answers were written, in ms", box=SIMPLE, padding=0)
        for head in ("tokens/s", "until", *(f"p{100 * each:.0f}" for each in _QUANTILES)):
            table.add_column(head, justify="left" if head == "until" else "right")
        for row in self.rows:
            if row.writing is not None:
                first, between = row.writing.first_token_ms, row.writing.between_tokens_ms
                rate = f"{row.writing.tokens_per_s:.1f}"
                table.add_row(row.protocol, rate, "first token", *(f"{value:.1f}" for value in first.values()))
                table.add_row("", "", "next token", *(f"{value:.1f}" for value in between.values()))
        return table

    def _failures_table(self) -> Table:
        table = Table("protocol", "count", "failure", title="failures", box=SIMPLE, padding=0)
        for failure in self.failures:
            table.add_row(failure.protocol, str(failure.count), failure.fault)
        return table


def row_of(entry: Any, protocol: str, rows: int, seconds: float, writing: Writing | None) -> Row:
    """A protocol's row from Locust's statistics of it."""
    latency_ms = _quantiles(entry)
    rate = entry.num_requests / seconds
    good_rows = (entry.num_requests - entry.num_failures) * rows
    latency_ms["max"] = float(entry.max_response_time)
    return Row(protocol, entry.num_requests, entry.num_failures, rate, good_rows / seconds, latency_ms, writing)


def writing_of(entry: Any, first: Any, between: Any, seconds: float) -> Writing:
    """How a protocol's answers were written, from Locust's statistics, whose lengths are tokens."""
    return Writing(entry.total_content_length / seconds, _quantiles(first), _quantiles(between))


def _quantiles(entry: Any) -> dict[str, float]:
    quantiles = ((each, entry.get_response_time_percentile(each)) for each in _QUANTILES)
    return {f"p{100 * each:.0f}": float(value) for each, value in quantiles}


def failures_of(errors: Any) -> list[Failure]:
    """The failures from Locust's error statistics, most frequent first."""
    found = [Failure(each.method, each.occurrences, str(each.error)) for each in errors.values()]
    return sorted(found, key=lambda failure: -failure.count)
