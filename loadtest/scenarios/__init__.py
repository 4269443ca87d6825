"""The tasks that can be put under load. A new one is one module beside this file and one line in `_ALL`."""

from typing import Any

from loadtest.scenarios.base import AnswerError, Scenario
from loadtest.scenarios.embedding import Embedding
from loadtest.scenarios.information_extraction import InformationExtraction
from loadtest.scenarios.multi_label import MultiLabelClassification
from loadtest.scenarios.reranking import Reranking
from loadtest.scenarios.text_classification import TextClassification, TextPairClassification
from loadtest.scenarios.token_classification import TokenClassification

_ALL: tuple[type[Scenario[Any]], ...] = (
    TextClassification,
    TextPairClassification,
    MultiLabelClassification,
    Reranking,
    TokenClassification,
    Embedding,
    InformationExtraction,
)
_SCENARIOS = {each.task_name: each for each in _ALL}

__all__ = ["AnswerError", "Scenario", "scenario", "scenario_names"]


def scenario_names() -> list[str]:
    """Names of the tasks that have a scenario, sorted."""
    return sorted(_SCENARIOS)


def scenario(task_name: str, schema: str) -> Scenario[Any]:
    """A fresh scenario for a task; `schema` is what an extraction asks.

    Raises:
        KeyError: there is none for the task.
        InputError: the schema is none.
    """
    return _SCENARIOS[task_name](schema)
