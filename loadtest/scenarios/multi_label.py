"""multi-label-classification under load: the labels chosen are among the scores, best first."""

from loadtest.scenarios.base import Asked, Scenario, are_close, require, require_score
from trireme.client.codecs import LabelSet

_TOLERANCE = 0.05


class MultiLabelClassification(Scenario[LabelSet]):
    """Labels above their thresholds."""

    task_name = "multi-label-classification"

    def judge_answer(self, asked: Asked, answer: LabelSet) -> None:
        """See the base class."""
        require_score(*answer.scores)
        chosen = [each.score for each in answer.labels]
        require(chosen == sorted(chosen, reverse=True), "labels are not best first")
        require(len({each.label for each in answer.labels}) == len(chosen), "a label is there twice")
        require(all(any(abs(one - score) < 1e-6 for score in answer.scores) for one in chosen), "a label has no score")
        first = self.first_answer(asked, answer)
        require(are_close(first.scores, answer.scores, _TOLERANCE), "the same text got other scores")
