"""The Triton backend `text_router`: stands in for a pipeline during a canary and passes each request, whole, to the
ensemble of one release.

Requests are answered through response senders from an event loop of the router's own, so that a slow release holds up
none of the other's answers. Requests that wait for the same release are passed on together. Every answer carries the
parameter `release`, since the router's own version says nothing about it, where Triton can pass response parameters on:
2.51 cannot.
"""

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.canary_metrics import CanaryMetrics
from text_runtime.deadlines import deadline_ns, latest, timeout_us
from text_runtime.gathering import Gathering
from text_runtime.routing import parse_split

_DRAIN_S = 30.0
_EXECUTIONS = 2  # the next one is tokenized while the last one is encoded


@dataclass(frozen=True)
class _Question:
    """A request's inputs, the outputs that it wants, and until when."""

    tensors: list[Any]
    outputs: tuple[str, ...]
    deadline: int

    @property
    def rows(self) -> int:
        """How many texts it holds."""
        return int(self.tensors[0].shape()[0])

    @property
    def kind(self) -> tuple[Any, ...]:
        """What it must share with others to be asked in one request."""
        return self.outputs, *(tensor.name() for tensor in self.tensors)


class _Release:
    """The ensemble of one release."""

    def __init__(self, model: str, rows_max: int) -> None:
        self._model = model
        self._gathering: Gathering[_Question, Any] = Gathering(self._ask_together, rows_max, _EXECUTIONS)

    async def ask(self, question: _Question) -> Any:
        """The ensemble's answer, or error, as a response."""
        return await self._gathering.ask(question, question.kind, question.rows)

    async def _ask_together(self, questions: Sequence[_Question]) -> list[Any]:
        if len(questions) == 1:
            return [await self._ask(questions[0])]
        answer = await self._ask(_merged(questions))
        if answer.has_error():  # one of them is to blame: the others must not fail with it
            return list(await asyncio.gather(*map(self._ask, questions)))
        return _split(answer, [question.rows for question in questions])

    async def _ask(self, question: _Question) -> Any:
        return await pb_utils.InferenceRequest(
            model_name=self._model,
            requested_output_names=list(question.outputs),
            inputs=question.tensors,
            timeout=timeout_us(question.deadline),
        ).async_exec()


class TritonPythonModel:
    """One instance of a router."""

    def initialize(self, args: dict[str, str]) -> None:
        """Read the split from the model's parameters."""
        config = orjson.loads(args["model_config"])
        texts = {name: value["string_value"] for name, value in config["parameters"].items()}
        self._split = parse_split(args["model_name"], texts)
        self._names = [tensor["name"] for tensor in config["input"]]
        self._releases = {
            release: _Release(f"{self._split.pipeline}_v{release}", config["max_batch_size"])
            for release in (self._split.current, self._split.candidate)
        }
        self._has_parameters = _has_parameters()
        self._metrics = CanaryMetrics(pb_utils, self._split)
        self._pending: set[Any] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="router", daemon=True)
        self._thread.start()

    def execute(self, requests: list[Any]) -> None:
        """Pass every request on; the answers come later, through the senders."""
        for request in requests:
            coroutine = self._route(request, request.get_response_sender())
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
            self._pending.add(future)
            future.add_done_callback(self._pending.discard)

    def finalize(self) -> None:
        """Answer what is under way before the instance goes."""
        deadline = time.monotonic() + _DRAIN_S
        while self._pending and time.monotonic() < deadline:
            time.sleep(0.005)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._metrics.close()

    async def _route(self, request: Any, sender: Any) -> None:
        try:
            question, parameters = self._parts(request)
            is_candidates = self._split.is_candidates(_key(parameters))
            is_copied = is_candidates and self._split.is_mirror
            release = self._split.candidate if is_candidates and not is_copied else self._split.current
            answer = await self._ask(release, question)
            _send(sender, _answer(answer, self._parameters(release)))
        except Exception as error:  # an exception that escapes would leave the caller without any answer
            _send(sender, _failure(str(error)))
            return
        if is_copied:
            self._metrics.compare(answer, await self._ask(self._split.candidate, question))

    def _parameters(self, release: int) -> dict[str, Any]:
        return {"parameters": {"release": release}} if self._has_parameters else {}

    def _parts(self, request: Any) -> tuple[_Question, dict[str, Any]]:
        found = (pb_utils.get_input_tensor_by_name(request, name) for name in self._names)
        tensors = [tensor for tensor in found if tensor is not None]
        outputs = tuple(sorted(request.requested_output_names()))
        question = _Question(tensors, outputs, deadline_ns(request.timeout()))
        return question, orjson.loads(request.parameters() or "{}")

    async def _ask(self, release: int, question: _Question) -> Any:
        started = time.monotonic()
        answer = await self._releases[release].ask(question)
        self._metrics.count(release, answer, time.monotonic() - started)
        return answer


def _merged(questions: Sequence[_Question]) -> _Question:
    columns = zip(*(question.tensors for question in questions), strict=True)
    tensors = [
        pb_utils.Tensor(column[0].name(), np.concatenate([tensor.as_numpy() for tensor in column]))
        for column in columns
    ]
    return _Question(tensors, questions[0].outputs, latest(question.deadline for question in questions))


def _split(answer: Any, rows: Sequence[int]) -> list[Any]:
    """The response to each question, in their order."""
    ends = np.cumsum(rows)[:-1]
    pieces = [np.split(tensor.as_numpy(), ends) for tensor in answer.output_tensors()]
    names = [tensor.name() for tensor in answer.output_tensors()]
    return [
        pb_utils.InferenceResponse([pb_utils.Tensor(*pair) for pair in zip(names, arrays, strict=True)])
        for arrays in zip(*pieces, strict=True)
    ]


def _key(parameters: dict[str, Any]) -> str | None:
    return None if parameters.get("key") is None else str(parameters["key"])


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
