"""What Triton's Prometheus endpoint says of our steps."""

import time
import urllib.request

from serving import Server
from trireme.client import Client


def counter(server: Server, name: str, **labels: str) -> float:
    """The sum of a counter over the series that carry these labels."""
    with urllib.request.urlopen(server.metrics_url, timeout=10) as answer:
        lines = [line for line in answer.read().decode().splitlines() if line.startswith(f"{name}{{")]
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if all(label in line for label in wanted))


def test_rows_tokens_and_labels_are_counted_by_release(served: Server) -> None:
    def seen() -> tuple[float, float, float]:
        return (
            counter(served, "trireme_encoder_rows_total", pipeline="sentiment", release="1"),
            counter(served, "trireme_encoder_tokens_total", pipeline="sentiment", release="1"),
            counter(served, "trireme_label_total", pipeline="sentiment", release="1"),
        )

    time.sleep(1.2)
    before = seen()
    with Client(served.http_url, "sentiment") as client:
        client.classify(["好"] * 10)
    time.sleep(1.2)
    rows, tokens, labels = (after - earlier for after, earlier in zip(seen(), before, strict=True))
    assert rows >= 10
    assert tokens >= 30  # [CLS] 好 [SEP]
    assert labels >= 10


def test_padding_counted_by_triton_is_no_more_than_an_eighth_at_mixed_lengths(
    served: Server, reviews: list[str]
) -> None:
    with Client(served.http_url, "sentiment") as client:
        client.classify(reviews)
    time.sleep(1.2)
    padding = counter(served, "trireme_encoder_padding_tokens_total", pipeline="sentiment")
    tokens = counter(served, "trireme_encoder_tokens_total", pipeline="sentiment")
    assert padding / (padding + tokens) < 0.125
