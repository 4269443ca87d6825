"""One user's way to ask: rows of a task, or answers that are written. Judging stays outside the measured time."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from loadtest.connections import address_of, connect
from loadtest.scenario import AnswerError, Scenario
from loadtest.settings import Settings
from text_runtime.tasks import Columns
from text_runtime.tasks.judging import require
from text_runtime.tasks.text_generation import Piece
from trireme.client import Client, Retries
from trireme.client.exchange import Call, Reply, Request

FIRST_TOKEN = "first token"
BETWEEN_TOKENS = "between tokens"


@dataclass(frozen=True)
class Sample:
    """Something that was measured: a whole request where `part` is empty, or a part of it. `tokens` were written."""

    elapsed_s: float
    fault: Exception | None = None
    part: str = ""
    tokens: int = 0


class Session(ABC):
    """A connection of one user."""

    @abstractmethod
    def open(self) -> None:
        """Connect. Raises `TriremeError` where the server does not serve the pipeline."""

    @abstractmethod
    def ask(self, texts: list[str]) -> Iterator[Sample]:
        """One request: what it took, and what was wrong with it. Never raises."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection, so that the server can stop at once."""


class RowsSession(Session):
    """Asks a task that answers a row with a row."""

    def __init__(self, settings: Settings, protocol: str, scenario: Scenario) -> None:
        self._settings = settings
        self._scenario = scenario
        self._transport = connect(protocol, getattr(settings, protocol))

    def open(self) -> None:
        """See the base class."""
        self._transport.signature(self._call())

    def ask(self, texts: list[str]) -> Iterator[Sample]:
        """See the base class."""
        columns = self._scenario.columns(texts)
        started = time.perf_counter()
        try:
            answer: Reply | Exception = self._transport.infer(Request(self._call(), columns))
        except Exception as error:  # whatever a client raises is a failed request, never the end of a user
            answer = error
        yield Sample(time.perf_counter() - started, self._fault(columns, answer))

    def close(self) -> None:
        """See the base class."""
        self._transport.close()

    def _call(self) -> Call:
        return Call(self._settings.pipeline, self._settings.timeout_s)

    def _fault(self, columns: Columns, answer: Reply | Exception) -> Exception | None:
        if isinstance(answer, Exception):
            return answer
        try:
            self._scenario.judge(columns, answer)
        except AnswerError as error:
            return error
        return None


class WritingSession(Session):
    """Asks a pipeline that writes, and reads its answer as it comes.

    The seconds to the first piece are one part, and the mean of those between tokens after it another.
    """

    def __init__(self, settings: Settings, protocol: str) -> None:
        self._settings = settings
        address = address_of(protocol, getattr(settings, protocol))
        self._client = Client(address, settings.pipeline, settings.timeout_s, Retries(attempts=1))

    def open(self) -> None:
        """See the base class."""
        self._client.task_name()

    def ask(self, texts: list[str]) -> Iterator[Sample]:
        """See the base class."""
        most = self._settings.max_tokens
        pieces: list[Piece] = []
        started = first = time.perf_counter()
        fault: Exception | None = None
        try:
            with closing(self._client.stream(texts[0], max_tokens=most)) as stream:
                for piece in stream:
                    first = first if pieces else time.perf_counter()
                    pieces.append(piece)
        except Exception as error:  # see RowsSession
            fault = error
        ended = time.perf_counter()
        tokens = sum(piece.num_output_tokens for piece in pieces)
        yield Sample(ended - started, fault or _fault_of(pieces, most), tokens=tokens)
        if fault is None:
            yield Sample(first - started, part=FIRST_TOKEN)
            later = tokens - pieces[0].num_output_tokens
            if later:
                yield Sample((ended - first) / later, part=BETWEEN_TOKENS)

    def close(self) -> None:
        """See the base class."""
        self._client.close()


def _fault_of(pieces: list[Piece], most: int) -> Exception | None:
    try:
        require(all(not piece.finish_reason for piece in pieces[:-1]), "a piece follows the last one")
        require(sum(piece.num_output_tokens for piece in pieces) <= most, f"it has more than {most} tokens")
    except AnswerError as error:
        return error
    return None
