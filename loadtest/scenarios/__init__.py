"""The tasks that can be put under load. A new one is one module beside this file and one line in `_SCENARIOS`."""

from collections.abc import Collection

from loadtest.scenarios.base import AnswerError, Scenario, Tensors
from loadtest.scenarios.text_classification import TextClassification
from text_runtime.tasks import task
from trireme.errors import UnsupportedError

_SCENARIOS: dict[str, type[Scenario]] = {each.task_name: each for each in (TextClassification,)}

__all__ = ["AnswerError", "Scenario", "Tensors", "detect", "scenario", "scenario_names"]


def scenario_names() -> list[str]:
    """Names of the tasks that have a scenario, sorted."""
    return sorted(_SCENARIOS)


def scenario(task_name: str) -> Scenario:
    """A fresh scenario for a task.

    Raises:
        UnsupportedError: there is none for it.
    """
    if task_name not in _SCENARIOS:
        raise UnsupportedError("load test for task", task_name, scenario_names())
    return _SCENARIOS[task_name]()


def detect(inputs: Collection[str], outputs: Collection[str]) -> str | None:
    """The task whose contract has these inputs and, among these outputs, all of its own; None for no such task."""
    for name in scenario_names():
        contract = task(name)
        expected = {tensor.name for tensor in contract.outputs(1)}
        if {tensor.name for tensor in contract.inputs} == set(inputs) and expected <= set(outputs):
            return name
    return None
