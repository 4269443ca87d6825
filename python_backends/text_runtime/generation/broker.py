"""Between callers and the engine: streams by their number, tokens to text, and how many messages that makes.

A message to a caller costs about half a millisecond, whatever it holds. So a lone stream gets one for each token, and
many streams get fewer and longer ones: all streams together get no more messages a second than `MESSAGES_PER_S`.
"""

import contextlib
import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tokenizers import Tokenizer

from text_runtime.deadlines import EXPIRED, is_over
from text_runtime.generation.detokenizer import Detokenizer
from text_runtime.generation.messages import Cancel, Load, Start, Step, Tokens
from text_runtime.generation.worker_process import EngineError, WorkerProcess, WorkerSpec

MESSAGES_PER_S = 120
_RESTART_S = (0.0, 1.0, 2.0, 5.0)
_LOST = "the engine ended while it wrote this answer; send the request again"


@dataclass(frozen=True)
class Piece:
    """What a message to a caller holds: more of the answer, and with the last of it why it ended."""

    text: str
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: str = ""

    @property
    def is_last(self) -> bool:
        """Whether the answer is whole."""
        return bool(self.finish_reason)


@dataclass
class Stream:
    """One answer under way.

    `give` takes each piece, `fail` the reason where there is none; each stream ends with a last piece or one failure.
    Both are called by the broker's thread. Without `is_streamed` all comes as one piece.
    """

    start: Start
    give: Callable[[Piece], None]
    fail: Callable[[Exception], None]
    is_streamed: bool = True
    deadline: int = 0
    detokenizer: Detokenizer | None = None
    asked_at: float = field(default_factory=time.monotonic)
    sent_at: float = 0.0
    first_at: float = 0.0
    tokens: int = 0
    text: str = ""
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    @property
    def number(self) -> int:
        """The sequence's."""
        return self.start.sequence

    def take(self, tokens: Tokens) -> str:
        """Take tokens in; gives why the answer ends with them, or nothing."""
        assert self.detokenizer is not None
        self.first_at = self.first_at or time.monotonic()
        self.tokens += len(tokens.ids)
        self.text += self.detokenizer.add(tokens.ids)
        self.ids += tokens.ids
        self.logprobs += tokens.logprobs
        if self.detokenizer.is_stopped:
            return "stop"
        if tokens.finish_reason:
            self.text += self.detokenizer.end()
        return tokens.finish_reason

    def piece(self, finish_reason: str) -> Piece:
        """All that was not given yet."""
        piece = Piece(self.text, tuple(self.ids), tuple(self.logprobs), finish_reason)
        self.text, self.ids, self.logprobs = "", [], []
        self.sent_at = time.monotonic()
        return piece


class Broker:
    """Runs one engine's process, and starts it again where it ends.

    Args:
        spec: the process.
        tokenizer: the release's, for text out of tokens.
        note: told of every stream when it ends, and why: its finish reason, `cancelled` or `failed`.

    Raises:
        EngineError: the engine does not load.
    """

    def __init__(self, spec: WorkerSpec, tokenizer: Tokenizer, note: Callable[[Stream, str], None]) -> None:
        self._spec = spec
        self._tokenizer = tokenizer
        self._note = note
        self._streams: dict[int, Stream] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.load = Load()
        self.problem = ""
        """Why the engine cannot be asked just now; empty while it can."""
        self._worker = WorkerProcess(spec)
        self._thread = threading.Thread(target=self._run, name="broker", daemon=True)
        self._thread.start()

    def start(self, stream: Stream) -> None:
        """Begin an answer.

        Raises:
            EngineError: the engine is away.
        """
        stream.detokenizer = Detokenizer(self._tokenizer, stream.start.sampling.stop)
        with self._lock:
            if self.problem:
                raise EngineError(f"the engine is being started again ({self.problem}); send the request again")
            self._streams[stream.number] = stream
        self._worker.send(stream.start)

    def cancel(self, number: int) -> Stream | None:
        """Let go of an answer, without a word to its caller; gives it, where it was still under way."""
        with self._lock:
            stream = self._streams.pop(number, None)
        if stream is not None:
            self._worker.send(Cancel(number))
            self._note(stream, "cancelled")
        return stream

    def close(self) -> None:
        """End the engine. Answers under way fail."""
        self._closing.set()
        self._worker.close()
        self._thread.join()

    def expire(self) -> None:
        """Fail the answers whose deadline is over."""
        for stream in list(self._streams.values()):
            if is_over(stream.deadline) and self.cancel(stream.number):
                stream.fail(TimeoutError(EXPIRED))

    def _run(self) -> None:
        while True:
            for report in self._worker.reports():
                if isinstance(report, Step):
                    self._deal_out(report)
            self._lose_all()
            if self._closing.is_set() or not self._start_again():
                return

    def _deal_out(self, step: Step) -> None:
        self.load = step.load
        for tokens in step.tokens:
            stream = self._streams.get(tokens.sequence)
            if stream is None:
                continue
            try:
                self._pass_on(stream, tokens)
            except Exception as error:  # one stream's fault must not end the thread that serves them all
                self.cancel(stream.number)
                self._fail(stream, error)

    def _pass_on(self, stream: Stream, tokens: Tokens) -> None:
        if tokens.error:
            if self._is_ended(stream):
                self._note(stream, "failed")
                self._fail(stream, ValueError(tokens.error))
            return
        finish = stream.take(tokens)
        if finish:
            if not self._is_ended(stream):
                return  # cancelled meanwhile
            if not tokens.finish_reason:
                self._worker.send(Cancel(stream.number))  # a stop string, of which the engine does not know
        if finish or (stream.is_streamed and self._is_due(stream)):
            if finish:
                self._note(stream, finish)
            stream.give(stream.piece(finish))

    def _is_ended(self, stream: Stream) -> bool:
        """Take a stream out; False where somebody else has."""
        with self._lock:
            return self._streams.pop(stream.number, None) is not None

    def _is_due(self, stream: Stream) -> bool:
        """Whether it is a stream's turn: its first text at once, more as often as all of them can be told."""
        if not stream.text:
            return False
        return time.monotonic() - stream.sent_at >= len(self._streams) / MESSAGES_PER_S

    def _lose_all(self) -> None:
        with self._lock:
            self.problem = "its process ended"
            lost, self._streams = list(self._streams.values()), {}
        self.load = Load()
        for stream in lost:
            self._note(stream, "failed")
            self._fail(stream, EngineError(_LOST))

    def _fail(self, stream: Stream, error: Exception) -> None:
        with contextlib.suppress(Exception):  # a caller that cannot be told any more
            stream.fail(error)

    def _start_again(self) -> bool:
        """Start the engine's process anew, however often it takes; False where the broker closes meanwhile."""
        self._worker.close()  # a process that has ended stays in the system's table until it is waited for
        for wait_s in itertools.chain(_RESTART_S, itertools.repeat(_RESTART_S[-1])):
            if self._closing.wait(wait_s):
                return False
            try:
                self._worker = WorkerProcess(self._spec)
            except EngineError as error:
                self.problem = str(error)
                continue
            break
        if self._closing.is_set():
            self._worker.close()
            return False
        self.problem = ""
        return True
