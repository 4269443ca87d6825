"""The Triton backend `text_router`: stands in for a pipeline during a canary and passes each request, whole, to the
ensemble of one release.

Requests are answered through response senders from an event loop of the router's own, so that a slow answer holds up
no other. Every answer carries the parameter `release`, since the router's own version says nothing about it, where
Triton can pass response parameters on: 2.51 cannot.
"""

import asyncio
import threading
import time
from typing import Any

import orjson
import triton_python_backend_utils as pb_utils

from text_runtime.canary_metrics import CanaryMetrics
from text_runtime.routing import parse_split

_DRAIN_S = 30.0


class TritonPythonModel:
    """One instance of a router."""

    def initialize(self, args: dict[str, str]) -> None:
        """Read the split from the model's parameters."""
        config = orjson.loads(args["model_config"])
        texts = {name: value["string_value"] for name, value in config["parameters"].items()}
        self._split = parse_split(args["model_name"], texts)
        self._names = [tensor["name"] for tensor in config["input"]]
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
            tensors, names, parameters = self._parts(request)
            is_candidates = self._split.is_candidates(_key(parameters))
            is_copied = is_candidates and self._split.is_mirror
            release = self._split.candidate if is_candidates and not is_copied else self._split.current
            answer = await self._ask(release, tensors, names)
            _send(sender, _answer(answer, self._parameters(release)))
        except Exception as error:  # an exception that escapes would leave the caller without any answer
            _send(sender, _failure(str(error)))
            return
        if is_copied:
            self._metrics.compare(answer, await self._ask(self._split.candidate, tensors, names))

    def _parameters(self, release: int) -> dict[str, Any]:
        return {"parameters": {"release": release}} if self._has_parameters else {}

    def _parts(self, request: Any) -> tuple[list[Any], list[str], dict[str, Any]]:
        found = (pb_utils.get_input_tensor_by_name(request, name) for name in self._names)
        tensors = [tensor for tensor in found if tensor is not None]
        return tensors, list(request.requested_output_names()), orjson.loads(request.parameters() or "{}")

    async def _ask(self, release: int, tensors: list[Any], names: list[str]) -> Any:
        started = time.monotonic()
        model = f"{self._split.pipeline}_v{release}"
        query = pb_utils.InferenceRequest(model_name=model, requested_output_names=names, inputs=tensors)
        answer = await query.async_exec()
        self._metrics.count(release, answer, time.monotonic() - started)
        return answer


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
