"""embedding under load: vectors of one dimension, and the same direction for the same text."""

import numpy as np

from loadtest.scenarios.base import Asked, Scenario, require
from trireme.client.codecs import Embedding as Vector

_LEAST_COSINE = 0.99


class Embedding(Scenario[Vector]):
    """A text's vector."""

    task_name = "embedding"

    def judge_answer(self, asked: Asked, answer: Vector) -> None:
        """See the base class."""
        vector, first = answer.embedding, self.first_answer(asked, answer).embedding
        require(bool(np.isfinite(vector).all()), "a vector is not finite")
        require(bool(vector.any()), "a vector is zero")
        require(vector.shape == first.shape, "the dimension changed")
        cosine = vector @ first / (np.linalg.norm(vector) * np.linalg.norm(first))
        require(bool(cosine >= _LEAST_COSINE), "the same text got another vector")
