"""reranking: how well a passage answers a query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trireme.client.codecs.base import Answer, RowCodec


@dataclass(frozen=True, kw_only=True)
class Relevance(Answer):
    """A passage's score from 0 to 1."""

    score: float


class RerankingCodec(RowCodec[Relevance]):
    """`score` FP32 [1]."""

    task_name = "reranking"
    method = "rerank"

    def row(self, outputs: Mapping[str, Any], *, release: int | None, truncated_chars: int) -> Relevance:
        """See the base class."""
        return Relevance(score=float(outputs["score"][0]), release=release, truncated_chars=truncated_chars)
