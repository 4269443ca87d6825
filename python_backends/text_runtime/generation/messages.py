"""What passes between the step and its engine's process: frames of MessagePack, each with its length before it."""

from typing import BinaryIO

import msgspec

from text_runtime.generation.sampling import SamplingParameters

_LENGTH_BYTES = 4


class Start(msgspec.Struct, tag=True, frozen=True):
    """Begin a sequence. `schema` is a JSON schema that the answer must meet; empty for none."""

    sequence: int
    ids: list[int]
    sampling: SamplingParameters
    schema: str = ""


class Cancel(msgspec.Struct, tag=True, frozen=True):
    """Let go of a sequence; nothing more comes of it."""

    sequence: int


class Score(msgspec.Struct, tag=True, frozen=True):
    """Read a text: its tokens' log-probabilities are asked for. For gates, while nothing else is computed."""

    sequence: int
    ids: list[int]


class Tokens(msgspec.Struct, frozen=True):
    """What one step has added to a sequence; or the log-probabilities of a text that was read, and no ids.

    `finish_reason` is `stop` or `length` with the last of them, and empty before. A sequence that failed has an `error`
    and nothing else.
    """

    sequence: int
    ids: list[int] = []
    logprobs: list[float] = []
    finish_reason: str = ""
    error: str = ""


class Load(msgspec.Struct, frozen=True):
    """How busy an engine is. `cache_share` is the part of the KV cache that sequences under way hold, from 0 to 1."""

    running: int = 0
    waiting: int = 0
    cache_share: float = 0.0


class Ready(msgspec.Struct, tag=True, frozen=True):
    """The engine is loaded and warm."""


class Failed(msgspec.Struct, tag=True, frozen=True):
    """The engine does not load."""

    reason: str


class Step(msgspec.Struct, tag=True, frozen=True):
    """What one step of the engine gave."""

    tokens: list[Tokens]
    load: Load


Command = Start | Cancel | Score
Report = Ready | Failed | Step


def frame(message: Command | Report) -> bytes:
    """A message as it goes over a pipe."""
    content = msgspec.msgpack.encode(message)
    return len(content).to_bytes(_LENGTH_BYTES, "little") + content


def read_report(stream: BinaryIO) -> Report | None:
    """The next report; None where the engine's process has ended."""
    head = stream.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    length = int.from_bytes(head, "little")
    content = stream.read(length)
    return msgspec.msgpack.decode(content, type=Report) if len(content) == length else None


class CommandReader:
    """Cuts what has come over a pipe so far into commands."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._decoder = msgspec.msgpack.Decoder(Command)

    def feed(self, content: bytes) -> list[Command]:
        """The commands that are whole by now."""
        self._pending += content
        commands: list[Command] = []
        while len(self._pending) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(self._pending[:_LENGTH_BYTES], "little")
            if len(self._pending) < end:
                break
            commands.append(self._decoder.decode(self._pending[_LENGTH_BYTES:end]))
            del self._pending[:end]
        return commands
