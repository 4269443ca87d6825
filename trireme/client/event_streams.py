"""Triton's streams over HTTP, server-sent events, as they come in pieces of bytes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from text_runtime.generation.tensors import TIMEOUT
from trireme.client.exchange import Call
from trireme.machine.grpc_streams import Inputs, StreamError

_DATA = b"data:"
_PATH = "/v2/models/{}/generate_stream"


class Events:
    """Cuts bytes into events. `feed` gives what is whole by now."""

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, content: bytes) -> Iterator[dict[str, Any]]:
        """The events that end in these bytes.

        Raises:
            StreamError: one of them tells an error.
        """
        *whole, self._pending = (self._pending + content).split(b"\n\n")
        for event in whole:
            lines = (line[len(_DATA) :] for line in event.splitlines() if line.startswith(_DATA))
            yield from (_checked(json.loads(line)) for line in lines)


def path_of(call: Call) -> str:
    """Where a pipeline is asked for a stream."""
    return _PATH.format(call.pipeline)


def body_of(call: Call, inputs: Inputs) -> bytes:
    """A request as JSON. The time that is left goes along, since Triton hears late of a caller who hangs up."""
    parameters = {**(call.parameters or {}), TIMEOUT: int(call.remaining_s * 1e6)}
    return json.dumps({**inputs, "parameters": parameters}).encode()


def error_of(body: bytes) -> str:
    """The server's words in a response that is no stream."""
    try:
        found = json.loads(body.strip().removeprefix(_DATA))
        return str(found["error"]) if isinstance(found, Mapping) else str(found)
    except (ValueError, KeyError):
        return body.decode(errors="replace").strip()


def whole_events(chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """All events in chunks of bytes."""
    events = Events()
    for chunk in chunks:
        yield from events.feed(chunk)


def _checked(event: dict[str, Any]) -> dict[str, Any]:
    if "error" in event:
        raise StreamError(str(event["error"]))
    return event
