"""The tasks that a pipeline may have. A new task is one module beside this file and one line in `TaskMethods`."""

from typing import Any

from text_runtime.tasks import text_generation
from text_runtime.tasks.answers import Answer, Asked, Columns, Outputs, Question
from text_runtime.tasks.base import Decoder, Encode, Labels, Task, Tensors, columns_of, rows_of
from text_runtime.tasks.embedding import Embedding
from text_runtime.tasks.information_extraction import InformationExtraction
from text_runtime.tasks.methods import AsyncAsker, SyncAsker, TaskMethod
from text_runtime.tasks.multi_label_classification import MultiLabelClassification
from text_runtime.tasks.reranking import Reranking
from text_runtime.tasks.text_classification import TextClassification, TextPairClassification
from text_runtime.tasks.token_classification import TokenClassification


class TaskMethods:
    """The registered tasks, each under the name of its method in both clients."""

    classify = TaskMethod(TextClassification())
    classify_pairs = TaskMethod(TextPairClassification())
    tag_labels = TaskMethod(MultiLabelClassification())
    rerank = TaskMethod(Reranking())
    recognize_entities = TaskMethod(TokenClassification())
    embed = TaskMethod(Embedding())
    extract = TaskMethod(InformationExtraction())


_BY_METHOD: dict[str, Task[Any]] = {
    method: each.task
    for method, each in vars(TaskMethods).items()
    if isinstance(each, TaskMethod) and isinstance(each.task, Task)
}
_TASKS = {each.name: each for each in _BY_METHOD.values()}
_METHOD_NAMES = {each.name: method for method, each in _BY_METHOD.items()} | {
    text_generation.NAME: text_generation.METHOD
}

__all__ = [
    "Answer",
    "Asked",
    "AsyncAsker",
    "Columns",
    "Decoder",
    "Encode",
    "Labels",
    "Outputs",
    "Question",
    "SyncAsker",
    "Task",
    "TaskMethods",
    "Tensors",
    "columns_of",
    "method_name",
    "rows_of",
    "task",
    "task_names",
]


def task(name: str) -> Task[Any]:
    """The registered task of that name.

    Raises:
        KeyError: there is none.
    """
    return _TASKS[name]


def task_names() -> list[str]:
    """Names of all registered tasks, sorted."""
    return sorted(_TASKS)


def method_name(task_name: str) -> str:
    """The method of both clients that asks a task.

    Raises:
        KeyError: there is no such task.
    """
    return _METHOD_NAMES[task_name]
