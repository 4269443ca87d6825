"""Asks one pipeline and waits for the answers."""

from collections.abc import Generator
from contextlib import closing

from tenacity import Retrying

from text_runtime.tasks import Question, SyncAsker, TaskMethods, text_generation
from text_runtime.tasks.answers import Result
from text_runtime.tasks.text_generation import Generation, Piece, Writing, WritingMethods, whole
from trireme.client.address import Address
from trireme.client.columns import checked, require_texts
from trireme.client.exchange import Call, Columns, Outputs, Reply, Request, Signature, joined, requests_of
from trireme.client.pieces import Fields, broken_off, piece_from, require_end
from trireme.client.retries import Retries
from trireme.client.settings import ClientSettings
from trireme.client.sync_streams import sync_streams
from trireme.client.sync_transports import sync_transport


class Client(TaskMethods, SyncAsker, WritingMethods[Generation, Generator[Piece, None, None]]):
    """A pipeline's client. Its methods are the tasks; the one that fits is the pipeline's own.

    Lists of any length are cut into requests of 64 rows, sent one after the other, and answered in order. `timeout_s`
    covers a whole call, retries included. `key` names a user: during a canary the same key meets the same release.
    Safe for threads. Close it, or use it in a `with` statement.

    Every method raises:
        UnavailableError: the server cannot be reached, also not on trying again.
        TimedOutError: the time is over.
        UnknownPipelineError: the server has no such pipeline.
        WrongTaskError: the method is not the pipeline's task.
        RefusedInputError: the server refused an input; the message names it and its row.
        InferenceError: the server failed the request otherwise.
    """

    def __init__(
        self, address: Address | str, pipeline: str, timeout_s: float = 30.0, retries: Retries | None = None
    ) -> None:
        self._settings = ClientSettings.of(address, pipeline, timeout_s, retries)
        self._transport = sync_transport(self._settings.address)
        self._streams = sync_streams(self._settings.address)
        self._signature: Signature | None = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()
        self._streams.close()

    def ask(self, question: Question[Result]) -> Result:
        """Ask what a task's method asks, and decode what comes."""
        columns = checked(question.columns)
        call = self._settings.call(question.key, question.timeout_s, question.prompt)
        self._settings.require_task(self._described(call), question.task_name)
        return question.decode(self._infer(columns, call))

    def infer(
        self,
        columns: Columns,
        *,
        prompt: str | None = None,
        key: str | None = None,
        timeout_s: float | None = None,
    ) -> Outputs:
        """A pipeline's raw outputs, whatever its task: for each input one text a row."""
        return self._infer(columns, self._settings.call(key, timeout_s, prompt))

    def write_whole(self, asked: Writing) -> Generation:
        """See the base class."""
        return whole(list(self.write_pieces(asked)))

    def task_name(self) -> str:
        """The pipeline's task, as the server's metadata tells it.

        Raises:
            NoTaskError: the model is no pipeline.
        """
        return self._settings.task_of(self._described(self._settings.call()))

    def _infer(self, columns: Columns, call: Call) -> Outputs:
        replies = [self._send(request) for request in requests_of(call, columns)]
        return joined(replies, self._described(call))

    def _send(self, request: Request) -> Reply:
        return Retrying(**self._settings.retries.options(request.call))(self._transport.infer, request)

    def write_pieces(self, asked: Writing) -> Generator[Piece, None, None]:
        """The pieces of one answer. Until the first is there, what is safe to try again is tried again."""
        require_texts(asked.inputs)
        call = self._settings.call(asked.key, asked.timeout_s)
        self._settings.require_task(self._described(call), text_generation.NAME)
        piece, rest = Retrying(**self._settings.retries.options(call))(self._begun, call, asked)
        with closing(rest):
            yield piece
            for fields in rest:
                piece = piece_from(fields)
                yield piece
        require_end(piece, self._settings.address.location)

    def _begun(self, call: Call, asked: Writing) -> tuple[Piece, Generator[Fields, None, None]]:
        """The first piece of a stream, and the responses that follow."""
        responses = self._streams.stream(call, asked.inputs)
        for fields in responses:
            return piece_from(fields), responses
        raise broken_off(self._settings.address.location)

    def _described(self, call: Call) -> Signature:
        """What the pipeline takes and gives: asked once, since a contract never changes."""
        if self._signature is None:
            retrying = Retrying(**self._settings.retries.options(call))
            self._signature = retrying(self._transport.signature, call)
        return self._signature
