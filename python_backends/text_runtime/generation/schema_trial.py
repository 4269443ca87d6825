"""Proves JSON schemas before they meet the engine that serves.

A schema that cannot be compiled makes an engine fail in the middle of a step, and with it every answer under way. So a
second process of the same engine, started at the first schema, writes one token under each new schema. Where that
breaks the process, only the caller of that schema hears of it.
"""

import hashlib
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec

from text_runtime.generation.messages import Failed, Report, Start, Step, Tokens
from text_runtime.generation.sampling import SamplingParameters
from text_runtime.generation.worker_process import EngineError, WorkerProcess, WorkerSpec

_TRIAL_S = 10.0
_MOST_REMEMBERED = 1024
_MOST_WAITING = 32
_PROMPT = [0, 0]

Answer = Callable[[Exception | None], None]
"""Told what is wrong with a schema, or None where nothing is."""


@dataclass(frozen=True)
class _Trial:
    schema: str
    answer: Answer


class SchemaTrials:
    """Tries schemas one after another, in a thread of its own, and remembers how each has done.

    Args:
        spec: the process of the engine that serves; the trials' own gets one thread and one sequence.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        order = msgspec.structs.replace(spec.order, threads=1, max_sequences=1, cache_gib=1)
        self._spec = replace(spec, order=order)
        self._worker: WorkerProcess | None = None
        self._sequence = 0
        self._verdicts: OrderedDict[bytes, str] = OrderedDict()
        self._waiting: queue.Queue[_Trial | None] = queue.Queue(_MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._is_closing = False

    def ask(self, schema: str, answer: Answer) -> None:
        """Have a schema tried; `answer` is called at once where it was tried before, else by the trials' thread.

        Raises:
            EngineError: too many schemas wait already.
        """
        verdict = self._verdicts.get(_digest(schema))
        if verdict is not None:
            answer(_refusal(verdict))
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="schemas", daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait(_Trial(schema, answer))
        except queue.Full:
            raise EngineError(f"{_MOST_WAITING} JSON schemas wait to be tried; try again later") from None

    def close(self) -> None:
        """End the process. Trials that wait are not answered."""
        self._is_closing = True
        worker, thread = self._worker, self._thread
        if worker is not None:
            worker.kill()
        if thread is not None:
            self._drop_waiting()
            self._waiting.put(None)
            thread.join()

    def _drop_waiting(self) -> None:
        while True:
            try:
                self._waiting.get_nowait()
            except queue.Empty:
                return

    def _run(self) -> None:
        while (trial := self._waiting.get()) is not None and not self._is_closing:
            trial.answer(self._judged(trial.schema))
        if self._worker is not None:
            self._worker.close()

    def _judged(self, schema: str) -> Exception | None:
        digest = _digest(schema)
        try:
            verdict = self._verdicts[digest] if digest in self._verdicts else self._tried(schema)
        except Exception as error:  # the thread must outlive whatever a trial does
            self._end_worker()
            return EngineError(f"the JSON schema could not be tried: {error}")
        self._verdicts[digest] = verdict
        if len(self._verdicts) > _MOST_REMEMBERED:
            self._verdicts.popitem(last=False)
        return _refusal(verdict)

    def _tried(self, schema: str) -> str:
        """What is wrong with a schema; empty where nothing is."""
        worker = self._worker = self._worker or WorkerProcess(self._spec)
        self._sequence += 1
        is_late = threading.Event()
        timer = threading.Timer(_TRIAL_S, _stop, (worker, is_late))
        timer.start()
        worker.send(Start(self._sequence, _PROMPT, SamplingParameters(max_tokens=1, temperature=0), schema))
        verdict = next((told for report in worker.reports() if (told := self._told(report)) is not None), None)
        timer.cancel()
        if verdict is None or is_late.is_set():
            self._end_worker()
        if is_late.is_set():
            return f"compiling it takes longer than {_TRIAL_S:.0f} s"
        return "the engine ended while it compiled it" if verdict is None else verdict

    def _told(self, report: Report) -> str | None:
        """The verdict in a report, if it has one."""
        if isinstance(report, Failed):
            self._end_worker()
            return report.reason
        tokens: list[Tokens] = report.tokens if isinstance(report, Step) else []
        return next((one.error for one in tokens if one.sequence == self._sequence), None)

    def _end_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            worker.close()


def _stop(worker: WorkerProcess, is_late: threading.Event) -> None:
    is_late.set()
    worker.kill()


def _refusal(verdict: str) -> ValueError | None:
    return ValueError(f"input 'response_format': the JSON schema cannot be obeyed: {verdict}") if verdict else None


def _digest(schema: str) -> bytes:
    return hashlib.sha256(schema.encode()).digest()
