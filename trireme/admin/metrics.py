"""What a server publishes for Prometheus, read by Prometheus' own parser."""

import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

from trireme.errors import ServerError

_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Sample:
    """One value of a metric, with its labels."""

    name: str
    labels: dict[str, str]
    value: float


def scrape(url: str) -> list[Sample]:
    """Every sample behind `http://host:port/metrics`.

    Raises:
        ServerError: the metrics port cannot be read.
    """
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
            content: bytes = answer.read()
    except OSError as error:
        remedy = "let this machine reach the metrics port, which is the gRPC port + 1 if nothing else is known"
        raise ServerError(urlsplit(url).netloc, f"its metrics cannot be read ({error})", remedy) from error
    return list(_samples(content.decode()))


def _samples(text: str) -> Iterator[Sample]:
    """The parser gives every counter the ending `_total`, as OpenMetrics wants it; one whose type it does not see keeps
    the name under which Triton publishes it."""
    untyped = "\n".join(line for line in text.splitlines() if not line.startswith("# TYPE "))
    for family in text_string_to_metric_families(untyped):
        for name, labels, value, *_ in family.samples:
            yield Sample(name, labels, value)
