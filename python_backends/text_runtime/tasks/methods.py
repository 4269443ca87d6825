"""How a task becomes a method of both clients: its signature is written once, in the task, and stays typed in both."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from text_runtime.tasks.answers import Question, Result

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


class Askable(Protocol[Arguments, Returned]):
    """What a method needs of a task: `ask`, whose parameters are the method's own."""

    def ask(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Question[Returned]:
        """What a call asks."""


class SyncAsker(ABC):
    """A client that waits for the answers."""

    @abstractmethod
    def ask(self, question: Question[Result]) -> Result:
        """Ask, and decode what comes."""


class AsyncAsker(ABC):
    """A client whose answers are awaited."""

    @abstractmethod
    async def ask(self, question: Question[Result]) -> Result:
        """Ask, and decode what comes."""


class TaskMethod(Generic[Arguments, Returned]):
    """A task as a method of a client. An async client's gives the same, to be awaited."""

    def __init__(self, task: Askable[Arguments, Returned]) -> None:
        self.task = task
        self.__doc__ = task.ask.__doc__

    @overload
    def __get__(self, client: None, owner: type[Any]) -> "TaskMethod[Arguments, Returned]": ...

    @overload
    def __get__(self, client: SyncAsker, owner: type[Any]) -> Callable[Arguments, Returned]: ...

    @overload
    def __get__(self, client: AsyncAsker, owner: type[Any]) -> Callable[Arguments, Coroutine[Any, Any, Returned]]: ...

    def __get__(self, client: SyncAsker | AsyncAsker | None, owner: type[Any]) -> Any:
        if client is None:
            return self

        @wraps(self.task.ask)
        def method(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Any:
            return client.ask(self.task.ask(*args, **kwargs))

        return method
