"""Counters of a running server, read as Prometheus reads them."""

import urllib.request

from trireme.serving import Server

FLUSHED_S = 1.2
"""After so long the steps have told what they counted."""


def counter(server: Server, name: str, **labels: str) -> float:
    """The sum of a counter over the series that carry these labels."""
    with urllib.request.urlopen(server.metrics_url, timeout=10) as answer:
        lines = [line for line in answer.read().decode().splitlines() if line.startswith(f"{name}{{")]
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if all(label in line for label in wanted))
