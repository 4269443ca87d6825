"""text-classification and text-pair-classification: one label of several."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trireme.client.codecs.base import Answer, RowCodec


@dataclass(frozen=True, kw_only=True)
class Classification(Answer):
    """The best label and its score, and the scores of all labels in the release's order."""

    label: str
    score: float
    scores: tuple[float, ...]


class TextClassificationCodec(RowCodec[Classification]):
    """`label` STRING [1], `score` FP32 [1], `scores` FP32 [labels]."""

    task_name = "text-classification"
    method = "classify"

    def row(self, outputs: Mapping[str, Any], *, release: int | None, truncated_chars: int) -> Classification:
        """See the base class."""
        return Classification(
            label=outputs["label"][0].decode(),
            score=float(outputs["score"][0]),
            scores=tuple(outputs["scores"].tolist()),
            release=release,
            truncated_chars=truncated_chars,
        )


class PairClassificationCodec(TextClassificationCodec):
    """The same for two texts together."""

    task_name = "text-pair-classification"
    method = "classify_pairs"
