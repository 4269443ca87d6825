"""token-classification under load: entities are stretches of the text, in order, none over another.

That a text gets the same entities each time is not judged: where two tags of a word are nearly alike, padding decides.
"""

from itertools import pairwise

from loadtest.scenarios.base import Asked, Scenario, require, require_score
from trireme.client.codecs import Entities


class TokenClassification(Scenario[Entities]):
    """A text's entities."""

    task_name = "token-classification"

    def judge_answer(self, asked: Asked, answer: Entities) -> None:
        """See the base class."""
        found = answer.entities
        is_cut_out = all(asked["text"][each.start : each.end] == each.text for each in found)
        require(is_cut_out, "an entity is not the text between its offsets")
        require(all(each.text for each in found), "an entity is empty")
        require(all(one.end <= other.start for one, other in pairwise(found)), "entities overlap or are out of order")
        require_score(*(each.score for each in found))
