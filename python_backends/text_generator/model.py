"""The Triton backend `text_generator`: writes the answers of one release.

The pipeline's ensemble calls this model twice for a request. The first call *admits* it: it reads the prompt, refuses
what cannot be answered, and gives a ticket. The second, with the ticket, *writes*: its responses are the pieces of the
answer. While it writes, the first call goes on giving the same ticket twice a second, which makes the ensemble call the
model again, a *beat*. For that is the only way to learn that a caller has gone: an ensemble passes a cancellation on to
calls that it begins, and never to those under way.
"""

import contextlib
import itertools
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.deadlines import EXPIRED, deadline_ns, is_over
from text_runtime.encoder.cpu import usable_cores
from text_runtime.generation.broker import Broker, Piece, Stream
from text_runtime.generation.messages import Load, Start
from text_runtime.generation.prompt import PromptReader
from text_runtime.generation.requests import Asked, Values, read_request
from text_runtime.generation.schema_trial import SchemaTrials
from text_runtime.generation.tensors import (
    CANCEL_TICKET,
    FINISH_REASON,
    INPUTS,
    ISSUED_TICKET,
    LOGPROBS,
    NUM_INPUT_TOKENS,
    NUM_OUTPUT_TOKENS,
    STREAM_TOKEN,
    TEXT_OUTPUT,
    TICKET,
    TIMEOUT,
)
from text_runtime.generation.visit import Visit
from text_runtime.generation.worker import Order
from text_runtime.generation.worker_process import EngineError, WorkerSpec
from text_runtime.manifest import GenerationManifest, read_manifest
from text_runtime.metrics.generation_metrics import GenerationMetrics
from text_runtime.parameters import integers
from text_runtime.refusals import INVALID, UNAVAILABLE, refusal

_BEAT_S = 0.4
_ABANDONED_S = 10.0
_LATE_S = 3.0
_FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
_SHARES = ("threads", "cache_gib", "max_sequences", "max_waiting")
_MOST_WAITING = 256


class TritonPythonModel:
    """One instance of a generator."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the release, in a process of its own."""
        folder = Path(pb_utils.get_model_dir())
        manifest = read_manifest(folder)
        if not isinstance(manifest, GenerationManifest):
            raise ValueError(f"{folder} holds a release of the {manifest.family} family")
        shares = integers(args["model_config"], _SHARES)
        sequences = shares.get("max_sequences", 64)
        order = Order(str(folder), shares.get("threads", usable_cores()), shares.get("cache_gib", 1), sequences)
        self._most = sequences + shares.get("max_waiting", _MOST_WAITING)
        self._reader = PromptReader(folder, manifest.generator)
        self._metrics = GenerationMetrics(pb_utils, manifest, args["model_name"])
        spec = WorkerSpec(order, manifest.generator.engine)
        self._broker = Broker(spec, self._reader.tokenizer, self._metrics.end)
        self._trials = SchemaTrials(spec)
        self._numbers = itertools.count(1)
        self._visits: dict[int, Visit] = {}
        self._ended = threading.Event()
        self._beats = threading.Thread(target=self._beat_until_ended, name="beats", daemon=True)
        self._beats.start()

    def execute(self, requests: list[Any]) -> None:
        """Take every request on; responses are sent as they come."""
        for request in requests:
            sender = request.get_response_sender()
            try:
                ticket = pb_utils.get_input_tensor_by_name(request, TICKET.name)
                if ticket is None:
                    self._admit(request, sender)
                else:
                    self._take_ticket(request, sender, ticket.as_numpy()[0].decode())
            except Exception as error:  # an exception that escapes would fail the others too
                self._metrics.refuse()
                with contextlib.suppress(Exception):  # one that has had its last word already
                    sender.send(_refusal(error), flags=_FINAL)

    def finalize(self) -> None:
        """End the engine."""
        self._ended.set()
        self._beats.join()
        self._trials.close()
        self._broker.close()
        self._metrics.set_load(Load())
        self._metrics.close()

    def _admit(self, request: Any, sender: Any) -> None:
        if len(self._visits) >= self._most:
            raise EngineError(f"{len(self._visits)} answers are under way or waited for; try again later")
        if self._broker.problem:
            raise EngineError(f"the engine is being started again ({self._broker.problem}); try again")
        parameters = orjson.loads(request.parameters() or "{}")
        asked = read_request(_values(request), parameters, self._reader)
        number = next(self._numbers)
        token = str(parameters.get(STREAM_TOKEN, ""))
        deadline = deadline_ns(request.timeout() or int(parameters.get(TIMEOUT, 0)))
        self._visits[number] = Visit(asked, deadline, sender, token)
        _send_ticket(sender, number)

    def _take_ticket(self, request: Any, sender: Any, ticket: str) -> None:
        """A call that belongs to a stream: its second one, a beat, or a router's word that its caller has gone."""
        if not ticket.startswith(CANCEL_TICKET):
            self._go_on(request, sender, int(ticket))
            return
        token = ticket.removeprefix(CANCEL_TICKET)
        for number in [number for number, visit in list(self._visits.items()) if token and visit.token == token]:
            self._leave(number)
        sender.send(flags=_FINAL)

    def _go_on(self, request: Any, sender: Any, number: int) -> None:
        """The second call of a request, and its beats."""
        visit = self._visits.get(number)
        is_cancelled = request.is_cancelled()
        if visit is None:
            sender.send(flags=_FINAL)
        elif visit.pen is None:
            visit.pen = sender
            self._leave(number) if is_cancelled else self._begin(number, visit)
        else:
            sender.send(flags=_FINAL)
            if is_cancelled:
                self._leave(number)
            self._note_beat(number, visit)

    def _begin(self, number: int, visit: Visit) -> None:
        """Write, once the schema is proven where there is one."""
        if not visit.asked.schema:
            self._write(number, visit)
            return
        try:
            self._trials.ask(visit.asked.schema, lambda error: self._write_proven(number, visit, error))
        except EngineError as error:
            self._metrics.refuse()
            self._fail(number, visit, error)

    def _write_proven(self, number: int, visit: Visit, error: Exception | None) -> None:
        if error is not None:
            self._metrics.refuse()
            self._fail(number, visit, error)
        elif not visit.is_over:
            self._write(number, visit)

    def _write(self, number: int, visit: Visit) -> None:
        asked = visit.asked
        start = Start(number, asked.prompt.ids, asked.sampling, asked.schema)
        stream = Stream(
            start,
            give=lambda piece: self._give(number, visit, piece),
            fail=lambda error: self._fail(number, visit, error),
            is_streamed=asked.is_streamed,
            deadline=visit.deadline,
        )
        try:
            self._broker.start(stream)
        except EngineError as error:
            self._fail(number, visit, error)
        if visit.is_over:  # the caller has gone since
            self._broker.cancel(number)

    def _give(self, number: int, visit: Visit, piece: Piece) -> None:
        response = pb_utils.InferenceResponse(_tensors(visit.asked, piece, self._reader))
        if not piece.is_last:
            with visit.lock:  # or the caller might leave, and the answer be ended, just before it is sent
                if not visit.is_over:
                    visit.pen.send(response)
            return
        if self._end_desk(number, visit):
            visit.pen.send(response, flags=_FINAL)

    def _fail(self, number: int, visit: Visit, error: Exception) -> None:
        """Tell the caller. Not while a beat is under way: an ensemble that has failed loses count of its calls."""
        if self._end_desk(number, visit, error):
            self._tell_failure(number, visit, is_late=False)

    def _tell_failure(self, number: int, visit: Visit, is_late: bool) -> None:
        """Send a failure, once: when no beat is under way, or, where a beat's call never comes, late."""
        with visit.lock:
            error = visit.failure if is_late or not visit.beats else None
            if error is None:
                return
            visit.failure = None
        self._visits.pop(number, None)
        visit.pen.send(_refusal(error), flags=_FINAL)

    def _leave(self, number: int) -> None:
        """The caller has gone: free its sequence, and end both calls."""
        self._broker.cancel(number)
        visit = self._visits.get(number)
        if visit is not None and self._end_desk(number, visit):
            visit.pen.send(flags=_FINAL)

    def _end_desk(self, number: int, visit: Visit, failure: Exception | None = None) -> bool:
        """End the first call; False where it had ended before. A visit with a failure stays until that is told."""
        with visit.lock:
            was_over, visit.is_over = visit.is_over, True
            if not was_over:
                visit.failure, visit.ended_at = failure, time.monotonic()
            if visit.failure is None:
                self._visits.pop(number, None)
        if not was_over:
            visit.desk.send(flags=_FINAL)
        return not was_over

    def _beat_until_ended(self) -> None:
        while not self._ended.wait(_BEAT_S):
            self._broker.expire()
            self._metrics.set_load(self._broker.load)
            self._beat_all()

    def _beat_all(self) -> None:
        """A method of its own, so that no name is left with a visit's senders."""
        for number, visit in list(self._visits.items()):
            try:
                self._beat(number, visit)
            except Exception as error:  # one request's fault must not end the thread that watches them all
                self._visits.pop(number, None)
                pb_utils.Logger.log_warn(f"request {number} could not be watched: {error}")

    def _beat(self, number: int, visit: Visit) -> None:
        if visit.pen is None and time.monotonic() - visit.begun_at > _ABANDONED_S:
            self._end_desk(number, visit)  # no ensemble asked, or one that has failed
        elif visit.is_over and time.monotonic() - visit.ended_at > _LATE_S:
            self._tell_failure(number, visit, is_late=True)
        elif is_over(visit.deadline) and visit.pen is not None:  # while its schema is tried
            self._fail(number, visit, TimeoutError(EXPIRED))
        with visit.lock:
            if visit.is_over or visit.pen is None or visit.beats:
                return
            visit.beats += 1
            _send_ticket(visit.desk, number)

    def _note_beat(self, number: int, visit: Visit) -> None:
        with visit.lock:
            visit.beats -= 1
        self._tell_failure(number, visit, is_late=False)


def _values(request: Any) -> Values:
    """The inputs that a request has, copied: Triton reuses their memory when `execute` returns."""
    found = ((tensor.name, pb_utils.get_input_tensor_by_name(request, tensor.name)) for tensor in INPUTS)
    return {name: tensor.as_numpy().copy() for name, tensor in found if tensor is not None}


def _send_ticket(desk: Any, number: int) -> None:
    ticket = pb_utils.Tensor(ISSUED_TICKET.name, np.array([str(number).encode()], dtype=np.object_))
    desk.send(pb_utils.InferenceResponse([ticket]))


def _tensors(asked: Asked, piece: Piece, reader: PromptReader) -> list[Any]:
    columns = {
        TEXT_OUTPUT.name: _strings(asked.prefix + piece.text),
        FINISH_REASON.name: _strings(piece.finish_reason),
        NUM_INPUT_TOKENS.name: np.array([len(asked.prompt.ids)], dtype=np.uint32),
        NUM_OUTPUT_TOKENS.name: np.array([len(piece.ids)], dtype=np.uint32),
    }
    if asked.sampling.logprobs:
        texts = reader.texts_of(piece.ids)
        told = [{"token": text, "logprob": value} for text, value in zip(texts, piece.logprobs, strict=False)]
        columns[LOGPROBS.name] = _strings(orjson.dumps(told).decode())
    return [pb_utils.Tensor(name, values) for name, values in columns.items()]


def _strings(text: str) -> Any:
    return np.array([text.encode()], dtype=np.object_)


def _refusal(error: Exception) -> Any:
    """An error as a response, which says whose fault it is."""
    if isinstance(error, ValueError):
        return refusal(pb_utils, f"{INVALID}{error}", pb_utils.TritonError.INVALID_ARG)
    if isinstance(error, EngineError):
        return refusal(pb_utils, f"{UNAVAILABLE}{error}", pb_utils.TritonError.UNAVAILABLE)
    return refusal(pb_utils, str(error), pb_utils.TritonError.INTERNAL)
