"""The tasks that a pipeline may have. A new task is one module beside this file and one line in `_ALL`."""

from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors
from text_runtime.tasks.embedding import Embedding
from text_runtime.tasks.information_extraction import InformationExtraction
from text_runtime.tasks.multi_label_classification import MultiLabelClassification
from text_runtime.tasks.reranking import Reranking
from text_runtime.tasks.text_classification import TextClassification, TextPairClassification
from text_runtime.tasks.token_classification import TokenClassification

_ALL: tuple[Task, ...] = (
    TextClassification(),
    MultiLabelClassification(),
    TextPairClassification(),
    Reranking(),
    TokenClassification(),
    Embedding(),
    InformationExtraction(),
)
_TASKS = {task.name: task for task in _ALL}

__all__ = ["Decoder", "Encode", "Labels", "Task", "Tensors", "task", "task_names"]


def task(name: str) -> Task:
    """The registered task of that name.

    Raises:
        KeyError: there is none.
    """
    return _TASKS[name]


def task_names() -> list[str]:
    """Names of all registered tasks, sorted."""
    return sorted(_TASKS)
