"""What a load test is told: the pipeline, its addresses, the texts and how they are sent."""

import argparse
from dataclasses import dataclass, fields
from pathlib import Path

DEFAULT_CORPUS = Path("examples/sentiment/reviews.txt")


@dataclass(frozen=True)
class Settings:
    """`http` and `grpc` are `host:port`; an empty one is left alone. Every user sends `rows` texts a request.

    `schema` is what an extraction asks, as JSON; no other task looks at it. A pipeline that writes takes one text a
    request as its prompt, and writes at most `max_tokens`.
    """

    pipeline: str = "sentiment"
    http: str = "127.0.0.1:8000"
    grpc: str = "127.0.0.1:8001"
    corpus: Path = DEFAULT_CORPUS
    rows: int = 1
    schema: str = '["时间", "地点", "人物"]'
    timeout_s: float = 10.0
    max_tokens: int = 64
    seed: int = 1

    def __post_init__(self) -> None:
        if not (self.http or self.grpc):
            raise ValueError("name at least one of the HTTP and the gRPC address")
        if self.rows < 1:
            raise ValueError(f"rows {self.rows}: a request has at least one row")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens {self.max_tokens}: an answer has at least one token")
        if self.timeout_s <= 0:
            raise ValueError(f"timeout_s {self.timeout_s} is not positive")

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> "Settings":
        """The settings among Locust's parsed options."""
        return cls(**{each.name: getattr(options, each.name) for each in fields(cls)})
