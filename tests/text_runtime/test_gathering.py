"""Requests that wait share an execution; each gets its own answer, and one that fails fails no other kind."""

import asyncio

import pytest

from text_runtime.gathering import Gathering


class Doubling:
    """Answers twice the number; notes what came together, and how many executions were under way at once."""

    def __init__(self, rows_max: int = 8, executions: int = 1) -> None:
        self.together: list[list[int]] = []
        self.running = self.most = 0
        self.gathering: Gathering[int, int] = Gathering(self._run, rows_max, executions)

    async def _run(self, numbers: list[int]) -> list[int]:
        self.running += 1
        self.most = max(self.most, self.running)
        self.together.append(numbers)
        await asyncio.sleep(0.01)
        self.running -= 1
        if min(numbers) < 0:
            raise ValueError("negative")
        return [2 * number for number in numbers]

    def ask(self, *questions: tuple[int, str, int]) -> list[int | BaseException]:
        """Ask all of (number, kind, rows) at the same time."""

        async def ask() -> list[int | BaseException]:
            return await asyncio.gather(*(self.gathering.ask(*each) for each in questions), return_exceptions=True)

        return asyncio.run(ask())


def test_what_arrives_while_one_is_under_way_goes_together_next() -> None:
    doubling = Doubling()
    assert doubling.ask(*((number, "a", 1) for number in range(5))) == [0, 2, 4, 6, 8]
    assert doubling.together == [[0], [1, 2, 3, 4]]


def test_no_more_rows_than_allowed_go_together_and_a_larger_question_goes_alone() -> None:
    doubling = Doubling(rows_max=4)
    assert doubling.ask((0, "a", 1), (1, "a", 9), (2, "a", 3), (3, "a", 2), (4, "a", 1)) == [0, 2, 4, 6, 8]
    assert doubling.together == [[0], [1], [2, 4], [3]]


def test_kinds_are_not_mixed() -> None:
    doubling = Doubling()
    assert doubling.ask((0, "a", 1), (1, "a", 1), (2, "b", 1), (3, "a", 1)) == [0, 2, 4, 6]
    assert doubling.together == [[0], [1, 3], [2]]


def test_a_failure_reaches_everybody_who_shared_it_and_nobody_else() -> None:
    doubling = Doubling()
    first, *shared, other = doubling.ask((0, "a", 1), (-1, "a", 1), (2, "a", 1), (3, "b", 1))
    assert (first, other) == (0, 6)
    assert all(isinstance(answer, ValueError) for answer in shared)


@pytest.mark.parametrize("executions", [1, 3])
def test_as_many_executions_are_under_way_as_allowed(executions: int) -> None:
    doubling = Doubling(rows_max=1, executions=executions)
    doubling.ask(*((number, "a", 1) for number in range(9)))
    assert doubling.most == executions
