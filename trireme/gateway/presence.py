"""Work for a caller who may leave: it ends when the caller does."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from fastapi import Request

Result = TypeVar("Result")


class CallerGone(Exception):
    """Nobody waits for the answer any more."""


async def while_present(request: Request, work: Awaitable[Result]) -> Result:
    """Do the work, or cancel it once the caller has gone. The request's body must have been read.

    Raises:
        CallerGone: the caller has gone.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise CallerGone
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
