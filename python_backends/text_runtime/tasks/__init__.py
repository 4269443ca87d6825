"""The tasks that a pipeline may have. A new task is one module beside this file and one line in `_TASKS`."""

from text_runtime.tasks.base import Decoder, Labels, Task, Tensors
from text_runtime.tasks.text_classification import TextClassification

_TASKS: dict[str, Task] = {task.name: task for task in (TextClassification(),)}

__all__ = ["Decoder", "Labels", "Task", "Tensors", "task", "task_names"]


def task(name: str) -> Task:
    """The registered task of that name.

    Raises:
        KeyError: there is none.
    """
    return _TASKS[name]


def task_names() -> list[str]:
    """Names of all registered tasks, sorted."""
    return sorted(_TASKS)
