"""What goes wrong, as a status and a JSON object: `{"error": {"message", "type", "param", "code"}}`, as OpenAI's."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from trireme.errors import (
    InputError,
    NoTaskError,
    RefusedInputError,
    TimedOutError,
    TriremeError,
    UnavailableError,
    UnknownPipelineError,
    WrongTaskError,
)
from trireme.gateway.presence import CallerGone

_GONE = 499
"""What nginx writes into its log of a caller who left; nobody reads it here."""
_log = logging.getLogger(__name__)
_STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (UnknownPipelineError, 404),
    (NoTaskError, 404),
    (WrongTaskError, 400),
    (RefusedInputError, 400),
    (InputError, 400),
    (TimedOutError, 504),
    (UnavailableError, 503),
    (TriremeError, 502),
)
_TYPES = {
    400: "invalid_request_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "invalid_request_error",
    502: "server_error",
    503: "overloaded_error",
    504: "timeout_error",
}
_RETRY_AFTER = {503: {"Retry-After": "1"}}


class BadRequest(Exception):
    """A request that no pipeline could answer. `param` names what is wrong with it."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


def content_of(message: str, status: int, param: str | None = None) -> dict[str, Any]:
    """The object that tells an error."""
    return {"error": {"message": message, "type": _TYPES.get(status, "server_error"), "param": param, "code": status}}


def told(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and the object for an error of ours; nothing of any other error is told."""
    if isinstance(error, BadRequest):
        return 400, content_of(str(error), 400, error.param)
    status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
    if status == 500:
        _log.error("a request failed", exc_info=error)
        return 500, content_of("the gateway failed; its log says why", 500)
    return status, content_of(str(error), status)


def add_handlers(app: FastAPI) -> None:
    """Answer every error in that form."""

    async def answer(_: Request, error: Exception) -> JSONResponse:
        status, content = told(error)
        return JSONResponse(content, status, _RETRY_AFTER.get(status))

    async def invalid(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        message = f"{place}: {first['msg']}" if place else str(first["msg"])
        return JSONResponse(content_of(message, 400, place or None), 400)

    async def refused(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return JSONResponse(content_of(str(error.detail), error.status_code), error.status_code, error.headers)

    async def left(_: Request, __: Exception) -> Response:
        return Response(status_code=_GONE)

    app.add_exception_handler(CallerGone, left)
    for kind in (TriremeError, BadRequest, Exception):
        app.add_exception_handler(kind, answer)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
