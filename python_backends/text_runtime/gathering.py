"""Lets requests that wait share one execution: what many ask one by one costs several times what they ask together."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class _Waiting(Generic[Question, Answer]):
    question: Question
    kind: Hashable
    rows: int
    answer: "asyncio.Future[Answer]"


class Gathering(Generic[Question, Answer]):
    """Asks at once while fewer than `executions` are under way; what arrives meanwhile goes together next.

    Args:
        run: gives an answer to each of some questions of one kind.
        rows_max: rows of one execution; a question that has more goes alone.
        executions: how many may be under way.

    It belongs to the event loop on which it is used.
    """

    def __init__(
        self, run: Callable[[list[Question]], Awaitable[list[Answer]]], rows_max: int, executions: int
    ) -> None:
        self._run = run
        self._rows_max = rows_max
        self._free = executions
        self._waiting: deque[_Waiting[Question, Answer]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, question: Question, kind: Hashable, rows: int) -> Answer:
        """Wait for the answer. Only questions of one kind share an execution."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(question, kind, rows, answer))
        self._start()
        return await answer

    def _start(self) -> None:
        while self._waiting and self._free:
            self._free -= 1
            task = asyncio.ensure_future(self._execute(self._take()))
            self._tasks.add(task)  # the loop itself holds tasks only weakly
            task.add_done_callback(self._tasks.discard)

    def _take(self) -> list[_Waiting[Question, Answer]]:
        """The one that waits longest, and all of its kind that fit beside it."""
        first = self._waiting.popleft()
        taken, rows, left = [first], first.rows, list[_Waiting[Question, Answer]]()
        for each in self._waiting:
            if each.kind == first.kind and rows + each.rows <= self._rows_max:
                taken.append(each)
                rows += each.rows
            else:
                left.append(each)
        self._waiting = deque(left)
        return taken

    async def _execute(self, taken: list[_Waiting[Question, Answer]]) -> None:
        try:
            answers = await self._run([each.question for each in taken])
            for each, answer in zip(taken, answers, strict=True):
                each.answer.set_result(answer)
        except Exception as error:  # each of them must hear of it
            for each in taken:
                if not each.answer.done():
                    each.answer.set_exception(error)
        finally:
            self._free += 1
            self._start()
