"""reranking under load: one score, the same for the same pair."""

from loadtest.scenarios.base import Asked, Scenario, require, require_score
from trireme.client.codecs import Relevance

_TOLERANCE = 0.05


class Reranking(Scenario[Relevance]):
    """A passage's score."""

    task_name = "reranking"

    def judge_answer(self, asked: Asked, answer: Relevance) -> None:
        """See the base class."""
        require_score(answer.score)
        is_same = abs(self.first_answer(asked, answer).score - answer.score) <= _TOLERANCE
        require(is_same, "the same pair got another score")
