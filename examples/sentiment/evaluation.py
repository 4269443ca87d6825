"""Scores: accuracy and macro-F1 of predicted labels, and the predictions of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from examples.sentiment.batches import Ids, pad

if TYPE_CHECKING:
    from paddlenlp.transformers import ErnieForSequenceClassification

_BATCH_SIZE = 64


@dataclass(frozen=True)
class Score:
    """How often the label was right, and the mean of the labels' F1."""

    accuracy: float
    macro_f1: float


def score(predicted: Ids, labels: Ids) -> Score:
    """Score label ids [reviews] against the true ones."""
    from sklearn.metrics import f1_score

    accuracy = float((predicted == labels).mean())
    return Score(round(accuracy, 4), round(float(f1_score(labels, predicted, average="macro")), 4))


def predict_logits(
    model: ErnieForSequenceClassification, sequences: list[list[int]], max_length: int
) -> NDArray[np.float32]:
    """Logits [reviews, labels], computed in batches of like length."""
    import paddle

    model.eval()
    order = np.argsort([len(sequence) for sequence in sequences], kind="stable")
    logits = np.zeros((len(sequences), 2), dtype=np.float32)
    with paddle.no_grad():
        for start in range(0, len(order), _BATCH_SIZE):
            part = order[start : start + _BATCH_SIZE]
            ids = pad([sequences[i] for i in part], max_length)
            logits[part] = model(paddle.to_tensor(ids)).numpy()
    return logits
