"""The linear model: a strong plain baseline, and the teacher whose doubts soften the labels.

Its probabilities for a training review come from a model that was fitted without that review (five folds), so that
they say how clear the review is rather than how well it was learnt by heart. Reviews are noisily labelled: the
linear model, which sees only single characters and pairs of them, is right on about 85 in 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from examples.sentiment.batches import Ids

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

_FOLDS = 5


def bigram_model() -> Pipeline:
    """Logistic regression on the weighted counts of characters and pairs of characters."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    counts = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    return make_pipeline(counts, LogisticRegression(C=4.0, max_iter=500))


def soft_labels(texts: Sequence[str], labels: Ids) -> NDArray[np.float64]:
    """Probabilities [texts, labels] from bigram models, each text judged by one that has not seen it."""
    from sklearn.model_selection import cross_val_predict

    guesses = cross_val_predict(bigram_model(), list(texts), labels, cv=_FOLDS, method="predict_proba")
    return np.asarray(guesses)


def targets(texts: Sequence[str], labels: Ids, teacher_share: float) -> NDArray[np.float32]:
    """What the network should answer [texts, labels]: the true label and the teacher's guess, mixed."""
    truth = np.eye(2)[labels]
    guesses = soft_labels(texts, labels)
    return ((1 - teacher_share) * truth + teacher_share * guesses).astype(np.float32)
