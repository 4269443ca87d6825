"""What happens to every request before a route sees it: its size is bounded, and it gets an id for its answer."""

import contextlib
import re
import uuid
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trireme.gateway.failures import content_of

REQUEST_ID = "X-Request-Id"
_FIT_ID = re.compile(r"[\x21-\x7e]{1,128}")


class RequestIds:
    """Gives every answer the request's own id, or a new one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = given if _FIT_ID.fullmatch(given) else uuid.uuid4().hex

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        await self._app(scope, receive, send_with_id)


class _TooLong(Exception):
    pass


class BodyLimit:
    """Refuses a body that is too long before it is read, and one that turns out to be while it is."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdigit() and int(announced) > self._most:
            await self._refuse(scope, receive, send)
            return
        read = 0
        is_refused = False

        async def receive_bounded() -> MutableMapping[str, Any]:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                raise _TooLong
            return message

        async def send_or_refuse(message: Message) -> None:
            """Whatever the application makes of a body that ended in an error, the answer is the refusal."""
            nonlocal is_refused
            if read <= self._most:
                await send(message)
            elif not is_refused:
                is_refused = True
                await self._refuse(scope, receive, send)

        with contextlib.suppress(_TooLong):
            await self._app(scope, receive_bounded, send_or_refuse)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = f"the body is longer than {self._most:,} bytes: send fewer texts a request"
        await JSONResponse(content_of(message, 413), 413, {"Connection": "close"})(scope, receive, send)
