"""Work that many requests share, and that must fail only for those that cause it."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def isolated(items: Sequence[Item], work: Callable[[Sequence[Item]], Sequence[Result]]) -> list[Result | Exception]:
    """The result of each item, or the exception that it causes.

    All are tried together. What fails is tried again in halves, until the failure is pinned to single items: one bad
    item among n costs about 2 log n more calls, and n bad ones 2n.

    Args:
        items: what to work on.
        work: gives a result for each item, in order; it may be called again for some of them.
    """
    try:
        results = list(work(items))
        if len(results) != len(items):
            raise RuntimeError(f"{len(results)} results for {len(items)} items")
        return [*results]
    except Exception as error:  # whatever it is, it must not reach the neighbours
        if len(items) == 1:
            return [error]
    half = len(items) // 2
    return [*isolated(items[:half], work), *isolated(items[half:], work)]
