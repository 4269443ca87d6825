"""multi-label-classification: every label that reaches its own threshold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from trireme.client.codecs.base import Answer, RowCodec


@dataclass(frozen=True)
class LabelScore:
    """A label and its score from 0 to 1."""

    label: str
    score: float


@dataclass(frozen=True, kw_only=True)
class LabelSet(Answer):
    """The labels that reach their thresholds, best first, and the scores of all labels in the release's order."""

    labels: tuple[LabelScore, ...]
    scores: tuple[float, ...]


class MultiLabelCodec(RowCodec[LabelSet]):
    """`labels` STRING [1], a JSON list; `scores` FP32 [labels]."""

    task_name = "multi-label-classification"
    method = "tag_labels"

    def row(self, outputs: Mapping[str, Any], *, release: int | None, truncated_chars: int) -> LabelSet:
        """See the base class."""
        return LabelSet(
            labels=tuple(LabelScore(**each) for each in orjson.loads(outputs["labels"][0])),
            scores=tuple(outputs["scores"].tolist()),
            release=release,
            truncated_chars=truncated_chars,
        )
