"""The Triton backend `text_stream_router`: stands in for a pipeline that writes during a canary.

Each request goes, whole, to the ensemble of one release, and every piece of the answer goes on to the caller as it
comes. A caller who leaves is heard of here, since Triton calls this model directly; the generator is told by a call of
its own, since a stream that this model asks for cannot be cancelled in Triton 2.51.

Both sides answer different requests, and free-running answers differ soon whatever the releases are. So a sample of the
requests is asked once more on both sides, for the first token alone and the likeliest one, and these are compared.
"""

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.deadlines import deadline_ns, timeout_us
from text_runtime.generation.tensors import (
    CANCEL_TICKET,
    EXCLUDE_INPUT,
    FINISH_REASON,
    NUM_OUTPUT_TOKENS,
    SAMPLING_PARAMETERS,
    STREAM,
    STREAM_TOKEN,
    TEXT_OUTPUT,
    TICKET,
)
from text_runtime.refusals import refusal
from text_runtime.routing.sampling import Sampler
from text_runtime.routing.split import key_of, parse_split, side_name, texts_of
from text_runtime.routing.stream_metrics import StreamMetrics, StreamRecord

_THREADS = 256
_LOOK_EVERY_S = 0.3
_DRAIN_S = 30.0
_COMPARISONS_MAX = 2
_COPY_TIMEOUT_US = 10_000_000
_FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
_GREEDY = orjson.dumps({"temperature": 0, "max_tokens": 1})


@dataclass(eq=False)
class _Stream:
    """A request under way: its inputs, whom it was passed to, and where its pieces go."""

    inputs: dict[str, np.ndarray[Any, Any]]
    parameters: dict[str, Any]
    release: int
    sender: Any
    deadline: int
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    is_cancelled: bool = False


class TritonPythonModel:
    """The router."""

    def initialize(self, args: dict[str, str]) -> None:
        """Read the split from the model's parameters."""
        config = orjson.loads(args["model_config"])
        self._split = parse_split(args["model_name"], texts_of(config))
        self._names = [tensor["name"] for tensor in config["input"]]
        self._threads = ThreadPoolExecutor(_THREADS, "streams")
        self._comparers = ThreadPoolExecutor(_COMPARISONS_MAX, "comparisons")
        self._comparing = 0
        self._streams: set[_Stream] = set()
        self._lock = threading.Lock()
        self._sampler = Sampler()
        self._metrics = StreamMetrics(pb_utils, self._split)
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._watch_until_ended, name="cancellations", daemon=True)
        self._watch.start()

    def execute(self, requests: list[Any]) -> None:
        """Pass every request on; the pieces of its answer are sent as they come."""
        for request in requests:
            sender = request.get_response_sender()
            try:
                self._threads.submit(self._pass_on, self._stream(request, sender))
            except Exception as error:  # an exception that escapes would fail the others too
                sender.send(_failure(str(error)), flags=_FINAL)

    def finalize(self) -> None:
        """Let what is under way end before the instance goes."""
        deadline = time.monotonic() + _DRAIN_S
        while self._streams and time.monotonic() < deadline:
            time.sleep(0.01)
        self._ended.set()
        self._watch.join()
        self._metrics.close()

    def _stream(self, request: Any, sender: Any) -> _Stream:
        found = ((name, pb_utils.get_input_tensor_by_name(request, name)) for name in self._names)
        inputs = {name: tensor.as_numpy().copy() for name, tensor in found if tensor is not None}
        parameters = orjson.loads(request.parameters() or "{}")
        is_candidates = self._split.is_candidates(key_of(parameters)) and not self._split.is_mirror
        release = self._split.candidate if is_candidates else self._split.current
        return _Stream(inputs, parameters, release, sender, deadline_ns(request.timeout()))

    def _pass_on(self, stream: _Stream) -> None:
        with self._lock:
            self._streams.add(stream)
        record = StreamRecord(stream.release)
        try:
            self._relay(stream, record)
        except Exception as error:  # a call without any answer would hang
            record.fail()
            self._end(stream, _failure(str(error)))
        if not stream.is_cancelled:
            self._metrics.count(record)
        self._compare_sometimes(stream)

    def _relay(self, stream: _Stream, record: StreamRecord) -> None:
        for response in self._asked(stream.release, stream.inputs, stream):
            if response.has_error():
                record.fail()
                self._end(stream, _failure(response.error().message()))
                return
            tensors = response.output_tensors()
            if tensors:
                record.note(_value(tensors, FINISH_REASON.name, ""), _value(tensors, NUM_OUTPUT_TOKENS.name, 0))
                stream.sender.send(pb_utils.InferenceResponse(tensors))
        self._end(stream)

    def _end(self, stream: _Stream, *last: Any) -> None:
        with self._lock:
            self._streams.discard(stream)
        stream.sender.send(*last, flags=_FINAL)

    def _asked(self, release: int, inputs: dict[str, Any], stream: _Stream) -> Any:
        """The responses of one release, as they come."""
        return pb_utils.InferenceRequest(
            model_name=side_name(self._split.pipeline, release),
            requested_output_names=[],
            inputs=[pb_utils.Tensor(name, values) for name, values in inputs.items()],
            timeout=timeout_us(stream.deadline),
            parameters={**stream.parameters, STREAM_TOKEN: stream.token},
        ).exec(decoupled=True)

    def _watch_until_ended(self) -> None:
        while not self._ended.wait(_LOOK_EVERY_S):
            self._look()

    def _look(self) -> None:
        """A method of its own: a name that is left with a sender would keep Triton from unloading the model."""
        with self._lock:
            streams = [stream for stream in self._streams if not stream.is_cancelled]
        for stream in streams:
            if stream.sender.is_cancelled():
                stream.is_cancelled = True
                self._cancel(stream)

    def _cancel(self, stream: _Stream) -> None:
        ticket = np.array([f"{CANCEL_TICKET}{stream.token}".encode()], dtype=np.object_)
        responses = pb_utils.InferenceRequest(
            model_name=f"{self._split.pipeline}_generator",
            model_version=stream.release,
            requested_output_names=[],
            inputs=[pb_utils.Tensor(TICKET.name, ticket)],
        ).exec(decoupled=True)
        for _ in responses:
            pass

    def _compare_sometimes(self, stream: _Stream) -> None:
        is_chosen = self._split.is_candidates(None) if self._split.is_mirror else self._sampler.is_chosen()
        if is_chosen and not stream.is_cancelled and self._comparing < _COMPARISONS_MAX:
            self._comparing += 1
            self._comparers.submit(self._compare, stream)

    def _compare(self, stream: _Stream) -> None:
        try:
            ours, theirs = (
                self._first_token(number, stream) for number in (self._split.current, self._split.candidate)
            )
            if ours is not None:
                self._metrics.compare(ours == theirs)
        finally:
            self._comparing -= 1

    def _first_token(self, release: int, stream: _Stream) -> str | None:
        """The likeliest first token of a release's answer, as a text; None where it fails."""
        flags = {STREAM.name: np.array([False]), EXCLUDE_INPUT.name: np.array([True])}
        asked = {**stream.inputs, **flags, SAMPLING_PARAMETERS.name: np.array([_GREEDY], dtype=np.object_)}
        copy = _Stream(asked, {}, release, None, deadline_ns(_COPY_TIMEOUT_US))
        record = StreamRecord(release)
        text: str | None = None
        try:
            for response in self._asked(release, asked, copy):
                if response.has_error():
                    record.fail()
                elif tensors := response.output_tensors():
                    record.note("", 1)
                    text = _value(tensors, TEXT_OUTPUT.name, b"").decode()
        except Exception:
            record.fail()
        if self._split.is_mirror and release == self._split.candidate:
            self._metrics.count(record)  # all that it is asked
        return None if record.is_failed else text


def _value(tensors: list[Any], name: str, otherwise: Any) -> Any:
    found = next((tensor.as_numpy() for tensor in tensors if tensor.name() == name), None)
    return otherwise if found is None else found.ravel()[0]


def _failure(message: str) -> Any:
    return refusal(pb_utils, message, pb_utils.TritonError.INTERNAL)
