"""The Triton backend `text_router`: stands in for a pipeline during a canary and passes each request, whole, to the
ensemble of one release.

What an execution holds for one release is asked together, and each release from threads of its own, so that one that
hangs holds up none of the other's answers. Every answer carries the parameter `release`, since the router's own version
says nothing about it, where Triton can pass response parameters on: 2.51 cannot.

Both sides of a canary answer different requests, so a sample of them is asked on the other side too, after the caller
has its answer, and the router counts how far the two answers agree.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.deadlines import deadline_ns, latest, timeout_us
from text_runtime.parameters import prompt_name
from text_runtime.routing.canary_metrics import CanaryMetrics
from text_runtime.routing.sampling import Sampler
from text_runtime.routing.split import key_of, parse_split, side_name, texts_of
from text_runtime.routing.wait_policy import WaitPolicy

_DRAIN_S = 30.0
_THREADS = 8
_COPIES_MAX = 32
_COMPARISONS_MAX = 2
_COPY_TIMEOUT_US = 10_000_000


@dataclass(frozen=True)
class _Question:
    """A request's inputs, the outputs that it wants, until when, and the prompt that it names, if any."""

    tensors: list[Any]
    outputs: tuple[str, ...]
    deadline: int
    prompt: str | None = None

    @property
    def rows(self) -> int:
        """How many texts it holds."""
        return int(self.tensors[0].shape()[0])

    @property
    def kind(self) -> tuple[Any, ...]:
        """What it must share with others to be asked in one request."""
        return self.outputs, self.prompt, *(tensor.name() for tensor in self.tensors)


class _Release:
    """The ensemble of one release, and the threads that ask it."""

    def __init__(self, pipeline: str, number: int) -> None:
        self.number = number
        self._model = side_name(pipeline, number)
        self._threads = ThreadPoolExecutor(_THREADS, self._model)
        self._pending: set[Future[None]] = set()

    @property
    def pending(self) -> int:
        """How much work of its threads is not done yet."""
        return len(self._pending)

    def start(self, work: Callable[..., None], *arguments: Any) -> Future[None]:
        """Let one of the threads do it."""
        future = self._threads.submit(work, *arguments)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return future

    def ask(self, questions: Sequence[_Question]) -> list[Any]:
        """The ensemble's answers, or errors, as responses. The questions are of one kind and fit into one request."""
        try:
            answer = self._ask(questions[0] if len(questions) == 1 else _merged(questions))
            if len(questions) == 1:
                return [answer]
            if not answer.has_error():
                return _split(answer, [question.rows for question in questions])
        except Exception as error:  # tensors that do not fit together, or none that Triton can take
            if len(questions) == 1:
                return [_failure(str(error))]
        half = len(questions) // 2  # one of them is to blame: the others must not fail with it
        return self.ask(questions[:half]) + self.ask(questions[half:])

    def _ask(self, question: _Question) -> Any:
        return pb_utils.InferenceRequest(
            model_name=self._model,
            requested_output_names=list(question.outputs),
            inputs=question.tensors,
            timeout=timeout_us(question.deadline),
            **({} if question.prompt is None else {"parameters": {"prompt_name": question.prompt}}),
        ).exec()


@dataclass(frozen=True)
class _Call:
    """A question, whom it is put to, and where its answer goes."""

    question: _Question
    release: _Release
    is_compared: bool
    sender: Any

    def reply(self, answer: Any, **parameters: Any) -> None:
        """Send the answer, or why it cannot be sent."""
        try:
            _send(self.sender, _answer(answer, parameters))
        except Exception as error:  # a call without any answer would hang
            _send(self.sender, _failure(str(error)))


class TritonPythonModel:
    """One instance of a router."""

    def initialize(self, args: dict[str, str]) -> None:
        """Read the split from the model's parameters."""
        config = orjson.loads(args["model_config"])
        texts = texts_of(config)
        self._split = parse_split(args["model_name"], texts)
        self._names = [tensor["name"] for tensor in config["input"]]
        self._outputs = tuple(sorted(tensor["name"] for tensor in config["output"]))
        pipeline = self._split.pipeline
        self._current, self._candidate = (
            _Release(pipeline, number) for number in (self._split.current, self._split.candidate)
        )
        self._wait_policy = WaitPolicy()
        self._has_parameters = _has_parameters()
        self._sampler = Sampler()
        self._metrics = CanaryMetrics(pb_utils, self._split, texts.get("task", ""))

    def execute(self, requests: list[Any]) -> None:
        """Pass every request on. The answers are sent as they come, most of them before this returns."""
        calls: defaultdict[tuple[_Release, Any], list[_Call]] = defaultdict(list)
        for request in requests:
            sender = request.get_response_sender()
            try:
                call = self._call(request, sender)
            except Exception as error:  # an exception that escapes would fail the others too
                _send(sender, _failure(str(error)))
                continue
            calls[call.release, call.question.kind].append(call)
        started: defaultdict[_Release, list[Future[None]]] = defaultdict(list)
        for (release, _), together in calls.items():
            started[release].append(release.start(self._answer, release, together))
        self._wait_policy.wait(started[self._current], started[self._candidate])

    def finalize(self) -> None:
        """Answer what is under way before the instance goes."""
        deadline = time.monotonic() + _DRAIN_S
        while (self._current.pending or self._candidate.pending) and time.monotonic() < deadline:
            time.sleep(0.005)
        self._metrics.close()

    def _call(self, request: Any, sender: Any) -> _Call:
        found = (pb_utils.get_input_tensor_by_name(request, name) for name in self._names)
        tensors = [tensor for tensor in found if tensor is not None]
        outputs = tuple(sorted(request.requested_output_names()))
        parameters = request.parameters() or "{}"
        question = _Question(tensors, outputs, deadline_ns(request.timeout()), prompt_name(parameters))
        is_candidates = self._split.is_candidates(key_of(orjson.loads(parameters)))
        if self._split.is_mirror:
            return _Call(question, self._current, is_candidates, sender)
        release = self._candidate if is_candidates else self._current
        return _Call(question, release, self._sampler.is_chosen(), sender)

    def _answer(self, release: _Release, calls: list[_Call]) -> None:
        answered = list(zip(calls, self._asked(release, [call.question for call in calls]), strict=True))
        for call, answer in answered:
            call.reply(answer, **self._parameters(release))
        compared = [(call.question, answer) for call, answer in answered if call.is_compared]
        other = self._current if release is self._candidate else self._candidate
        most = _COPIES_MAX if self._split.is_mirror else _COMPARISONS_MAX
        if compared and other.pending < most:  # a side that falls behind gets fewer copies
            other.start(self._compare, release, other, compared)

    def _compare(self, release: _Release, other: _Release, compared: list[tuple[_Question, Any]]) -> None:
        """Ask the other side too. Callers may have asked for some outputs only: then both are asked for all."""
        deadline = deadline_ns(_COPY_TIMEOUT_US)
        copies = [replace(question, outputs=self._outputs, deadline=deadline) for question, _ in compared]
        is_whole = compared[0][0].outputs == self._outputs
        own = [answer for _, answer in compared] if is_whole else release.ask(copies)
        others = self._asked_copies(other, copies)
        for answer, copied in zip(own, others, strict=True):
            sides = (copied, answer) if other is self._current else (answer, copied)
            self._metrics.compare(*sides)

    def _asked_copies(self, release: _Release, copies: list[_Question]) -> list[Any]:
        """A mirror's copies are all that its candidate gets, and count; a canary's would count beside real requests."""
        return self._asked(release, copies) if self._split.is_mirror else release.ask(copies)

    def _asked(self, release: _Release, questions: Sequence[_Question]) -> list[Any]:
        began = time.monotonic()
        try:
            answers = release.ask(questions)
        except Exception as error:  # each of them must hear of it
            answers = [_failure(str(error)) for _ in questions]
        seconds = time.monotonic() - began
        self._wait_policy.note(release is self._candidate, seconds)
        for answer in answers:
            self._metrics.count(release.number, answer, seconds)
        return answers

    def _parameters(self, release: _Release) -> dict[str, Any]:
        return {"parameters": {"release": release.number}} if self._has_parameters else {}


def _merged(questions: Sequence[_Question]) -> _Question:
    columns = zip(*(question.tensors for question in questions), strict=True)
    tensors = [
        pb_utils.Tensor(column[0].name(), np.concatenate([tensor.as_numpy() for tensor in column]))
        for column in columns
    ]
    deadline = latest(question.deadline for question in questions)
    return _Question(tensors, questions[0].outputs, deadline, questions[0].prompt)


def _split(answer: Any, rows: Sequence[int]) -> list[Any]:
    """The response to each question, in their order."""
    ends = np.cumsum(rows)[:-1]
    pieces = [np.split(tensor.as_numpy(), ends) for tensor in answer.output_tensors()]
    names = [tensor.name() for tensor in answer.output_tensors()]
    return [
        pb_utils.InferenceResponse([pb_utils.Tensor(*pair) for pair in zip(names, arrays, strict=True)])
        for arrays in zip(*pieces, strict=True)
    ]


def _answer(answer: Any, parameters: dict[str, Any]) -> Any:
    if answer.has_error():
        return _failure(answer.error().message())
    return pb_utils.InferenceResponse(answer.output_tensors(), **parameters)


def _has_parameters() -> bool:
    try:
        pb_utils.InferenceResponse([], parameters={})
    except TypeError:
        return False
    return True


def _failure(message: str) -> Any:
    return pb_utils.InferenceResponse(error=pb_utils.TritonError(message))


def _send(sender: Any, response: Any) -> None:
    sender.send(response, pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
