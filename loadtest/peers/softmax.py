"""The answer that every peer gives: label and score."""

from typing import Any

import numpy as np

LABELS = ("negative", "positive")


def answer_of(logits: Any) -> dict[str, Any]:
    """Label and score of one row of logits."""
    scores = np.exp(logits - logits.max())
    scores /= scores.sum()
    best = int(scores.argmax())
    return {"label": LABELS[best], "score": float(scores[best])}
