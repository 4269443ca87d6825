"""text-classification and text-pair-classification under load: one distribution, and one label for the same text."""

from loadtest.scenarios.base import Asked, Scenario, require, require_score
from trireme.client.codecs import Classification

_SUM_TOLERANCE = 1e-3
# A text that shares its batch with others is padded differently each time, which moves a score in low precision a
# little. Only a text whose two best scores are this close may change its label for that.
_TIE = 0.02


class TextClassification(Scenario[Classification]):
    """The best label of a distribution."""

    task_name = "text-classification"

    def __init__(self, schema: str) -> None:
        super().__init__(schema)
        self._label_of_column: dict[int, str] = {}

    def judge_answer(self, asked: Asked, answer: Classification) -> None:
        """See the base class."""
        scores = answer.scores
        require(len(scores) >= 2, "scores has fewer than two labels")
        require_score(*scores)
        require(abs(sum(scores) - 1) <= _SUM_TOLERANCE, "scores do not sum to 1")
        require(answer.score == max(scores), "score is not the best of scores")
        self._judge_label(scores.index(answer.score), answer.label)
        if self.first_answer(asked, answer).label != answer.label:
            runner_up, winner = sorted(scores)[-2:]
            require(winner - runner_up <= _TIE, "the same text got another label")

    def _judge_label(self, column: int, label: str) -> None:
        """A column of `scores` has one name, and no two columns share it."""
        known = self._label_of_column.setdefault(column, label)
        is_own = len(set(self._label_of_column.values())) == len(self._label_of_column)
        require(label == known and is_own, "label does not belong to the best score")


class TextPairClassification(TextClassification):
    """The same for two texts together."""

    task_name = "text-pair-classification"
