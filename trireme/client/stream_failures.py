"""Whatever ends a stream early, as Trireme's own errors.

Triton tells a stream's failure in a message without a code, over HTTP even with status 200. So the step that refuses
says in the message itself whose fault it is.
"""

import asyncio
import http.client
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import grpc

from text_runtime.deadlines import EXPIRED
from text_runtime.refusals import INVALID, UNAVAILABLE
from trireme.client.exchange import Call
from trireme.client.failures import without_noise
from trireme.errors import (
    InferenceError,
    RefusedInputError,
    TimedOutError,
    TriremeError,
    UnavailableError,
    UnknownPipelineError,
)
from trireme.machine.grpc_streams import StreamError

_UNKNOWN = ("unknown model", "is not found", "has no available versions")
_LOST = (OSError, EOFError, http.client.HTTPException, aiohttp.ClientError)


@contextmanager
def translated_stream(server: str, call: Call) -> Iterator[None]:
    """Run a stream.

    Raises:
        UnavailableError: the connection failed, or the server does not serve for now.
        TimedOutError: the call's time was over.
        UnknownPipelineError: the server has no such pipeline.
        RefusedInputError: the server refused the input.
        InferenceError: it failed the request otherwise.
    """
    try:
        yield
    except StreamError as error:
        raise _told(without_noise(str(error)), server, call) from error
    except (TimeoutError, asyncio.TimeoutError) as error:
        raise TimedOutError(call.pipeline, server, call.timeout_s) from error
    except grpc.RpcError as error:
        raise _broken_call(error, server, call) from error
    except http.client.HTTPException as error:
        if len(error.args) == 2:
            status, message = error.args
            if status == http.client.SERVICE_UNAVAILABLE:
                raise UnavailableError(server, str(message)) from error
            raise _told(without_noise(str(message)), server, call) from error
        raise UnavailableError(server, str(error) or type(error).__name__) from error
    except _LOST as error:
        raise UnavailableError(server, str(error) or type(error).__name__) from error


def _told(message: str, server: str, call: Call) -> TriremeError:
    """The error that a server's words stand for."""
    if EXPIRED in message:
        return TimedOutError(call.pipeline, server, call.timeout_s)
    if message.startswith(INVALID):
        return RefusedInputError(call.pipeline, server, message.removeprefix(INVALID))
    if message.startswith(UNAVAILABLE):
        return UnavailableError(server, message.removeprefix(UNAVAILABLE))
    if any(words in message for words in _UNKNOWN):
        return UnknownPipelineError(call.pipeline, server)
    return InferenceError(call.pipeline, server, message)


def _broken_call(error: grpc.RpcError, server: str, call: Call) -> TriremeError:
    code, details = error.code(), str(error.details())
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return TimedOutError(call.pipeline, server, call.timeout_s)
    if code == grpc.StatusCode.UNAVAILABLE:
        return UnavailableError(server, details)
    return _told(without_noise(details), server, call)
