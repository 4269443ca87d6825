"""What Triton's Prometheus endpoint says of our steps."""

import time

from tests.python_backends.counting import FLUSHED_S, counter
from trireme.client import Client
from trireme.serving import Server


def test_rows_tokens_and_labels_are_counted_by_release(served: Server) -> None:
    def seen() -> tuple[float, float, float]:
        return (
            counter(served, "trireme_encoder_rows_total", pipeline="sentiment", release="1"),
            counter(served, "trireme_encoder_tokens_total", pipeline="sentiment", release="1"),
            counter(served, "trireme_label_total", pipeline="sentiment", release="1"),
        )

    time.sleep(FLUSHED_S)
    before = seen()
    with Client(served.http_url, "sentiment") as client:
        client.classify(["好"] * 10)
    time.sleep(FLUSHED_S)
    rows, tokens, labels = (after - earlier for after, earlier in zip(seen(), before, strict=True))
    assert rows >= 10
    assert tokens >= 30  # [CLS] 好 [SEP]
    assert labels >= 10


def test_padding_counted_by_triton_is_no_more_than_an_eighth_at_mixed_lengths(
    served: Server, reviews: list[str]
) -> None:
    with Client(served.http_url, "sentiment") as client:
        client.classify(reviews)
    time.sleep(FLUSHED_S)
    padding = counter(served, "trireme_encoder_padding_tokens_total", pipeline="sentiment")
    tokens = counter(served, "trireme_encoder_tokens_total", pipeline="sentiment")
    assert padding / (padding + tokens) < 0.125
