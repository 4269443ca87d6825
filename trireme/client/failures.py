"""Whatever a protocol's library raises, as Trireme's own errors: what failed, on what, what to do."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tritonclient.utils import InferenceServerException

from text_runtime.deadlines import EXPIRED
from trireme.client.exchange import Call, Request
from trireme.contract.pipelines import MAX_BATCH_SIZE
from trireme.errors import (
    InferenceError,
    RefusedInputError,
    TimedOutError,
    TriremeError,
    UnavailableError,
    UnknownPipelineError,
)

_UNAVAILABLE = {"503", "StatusCode.UNAVAILABLE"}
_TIMED_OUT = {"504", "StatusCode.DEADLINE_EXCEEDED"}
_UNKNOWN = {"404", "StatusCode.NOT_FOUND"}
_REFUSED = {"400", "StatusCode.INVALID_ARGUMENT"}

_NOISE = re.compile(r"^\[request id: [^]]*\] |^in ensemble '[^']*', ")
_ROW = re.compile(r"(input '[^']+', row )(\d+)")


@dataclass(frozen=True)
class Attempt:
    """What was asked of which server; errors name both."""

    server: str
    call: Call
    request: Request | None = None


@contextmanager
def translated(target: Attempt, lost: tuple[type[Exception], ...]) -> Iterator[None]:
    """Run a transport's exchange.

    Args:
        target: what errors name.
        lost: what the library raises for a connection that failed or broke.

    Raises:
        UnavailableError: the connection failed, or the server does not serve for now: safe to send again.
        TimedOutError: the call's time was over.
        UnknownPipelineError: the server has no such pipeline.
        RefusedInputError: the server refused the input.
        InferenceError: it failed the request otherwise.
    """
    try:
        yield
    except InferenceServerException as error:
        raise _translation(error, target) from error
    except (TimeoutError, asyncio.TimeoutError) as error:
        raise TimedOutError(target.call.pipeline, target.server, target.call.timeout_s) from error
    except lost as error:
        raise UnavailableError(target.server, str(error) or type(error).__name__) from error


def _translation(error: InferenceServerException, target: Attempt) -> TriremeError:
    status, pipeline, message = str(error.status()), target.call.pipeline, without_noise(str(error.message()))
    if status in _TIMED_OUT or EXPIRED in message:  # said with the status of a server that is away
        return TimedOutError(pipeline, target.server, target.call.timeout_s)
    if status in _UNAVAILABLE:
        return UnavailableError(target.server, message)
    if status in _UNKNOWN:
        return UnknownPipelineError(pipeline, target.server)
    if status in _REFUSED:
        return RefusedInputError(pipeline, target.server, _located(message, target.request))
    return InferenceError(pipeline, target.server, message)


def without_noise(message: str) -> str:
    """A server's message without what Triton's core puts in front of it."""
    return _NOISE.sub("", message)


def _located(message: str, request: Request | None) -> str:
    """Rows counted as the caller counts them, and the inputs that Triton's core does not name."""
    if request is None:
        return message
    message = _ROW.sub(lambda match: f"{match[1]}{int(match[2]) + request.first_row}", message)
    if "batch-size must be <=" in message:
        name, texts = max(request.columns.items(), key=lambda column: len(column[1]))
        return f"input '{name}': {len(texts)} rows in one request; send at most {MAX_BATCH_SIZE}"
    return message
