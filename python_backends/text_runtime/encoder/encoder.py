"""The encoder of a release: rows of many requests in, each request's output as soon as its last row is done."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.encoder.batching import Batcher, BatchingSettings, SubBatch
from text_runtime.encoder.engines import Engine
from text_runtime.encoder.isolation import isolated
from text_runtime.facts import EncoderFacts
from text_runtime.manifest import EncoderManifest

Array = npt.NDArray[Any]
Answer = Callable[[int, Array], None]
"""Called once for each request that succeeds, with its index in the execution and its output."""
Fail = Callable[[int, Exception], None]
"""Called once for each request that fails, with its index in the execution and the reason."""


@dataclass(frozen=True)
class EncoderRequest:
    """One request: `input_ids` (and `token_type_ids`) INT64 [rows, tokens], `lengths` INT32 [rows, windows].

    A row is the concatenation of its windows; tokens past the sum of its lengths are padding. A length of 0 means that
    the row has no such window.
    """

    input_ids: Array
    lengths: Array
    token_type_ids: Array | None = None

    def __post_init__(self) -> None:
        for name, array in (("input_ids", self.input_ids), ("lengths", self.lengths)):
            if array.ndim != 2:
                raise ValueError(f"input '{name}' has the shape {list(array.shape)}, not [rows, columns]")
        rows, tokens = self.input_ids.shape
        if self.lengths.shape[0] != rows:
            raise ValueError(f"input 'lengths' has {self.lengths.shape[0]} rows, 'input_ids' has {rows}")
        if self.lengths.min(initial=0) < 0 or self.lengths.sum(axis=1).max(initial=0) > tokens:
            raise ValueError(f"input 'lengths' counts more tokens than the {tokens} in 'input_ids'")
        if self.lengths.sum(axis=1).min(initial=1) < 1:
            raise ValueError("input 'lengths': a row has no token")
        if self.token_type_ids is not None and self.token_type_ids.shape != self.input_ids.shape:
            raise ValueError("input 'token_type_ids' has another shape than 'input_ids'")


@dataclass
class Work:
    """What one execution did: rows, their tokens, the padding added, engine calls, and seconds in them."""

    rows: int = 0
    tokens: int = 0
    padding_tokens: int = 0
    batches: int = 0
    engine_s: float = 0.0

    def add(self, other: "Work") -> None:
        """Count another execution's work in."""
        self.rows += other.rows
        self.tokens += other.tokens
        self.padding_tokens += other.padding_tokens
        self.batches += other.batches
        self.engine_s += other.engine_s


_Rows = Sequence[Array | Exception]
_FAILED = -1


@dataclass(frozen=True)
class _Window:
    request: int
    row: int
    column: int
    start: int
    length: int


@dataclass
class _Execution:
    """The requests of one execution and what has been answered of them."""

    requests: Sequence[EncoderRequest]
    windows: list[_Window]
    outputs: list[Array]
    waiting: list[int]
    """Windows of each request that are not done yet; negative once the request has failed."""
    work: Work = field(default_factory=Work)


class TextEncoder:
    """Batches by length whatever arrives together, and runs it on one engine with `workers` calls at a time."""

    def __init__(self, engine: Engine, manifest: EncoderManifest, settings: BatchingSettings, workers: int = 1) -> None:
        self._engine = engine
        self._facts = manifest.encoder
        self._inputs = manifest.encoder.inputs
        self._pad = manifest.tokenizer.pad_token_id
        self._width = manifest.width
        self._longest = manifest.tokenizer.max_length
        self._batcher = Batcher(settings, manifest.tokenizer.max_length)
        self._workers = workers
        self._pool = ThreadPoolExecutor(workers, "encoder") if workers > 1 else None

    def warm_up(self) -> int:
        """Run every shape that a sub-batch can have, so that no user pays for the first; gives their number.

        Engines compile a kernel, or plan their memory, when they meet a shape for the first time.
        """
        shapes = self._batcher.shapes()
        for rows, width in shapes:
            ids = np.full((rows, width), self._pad + 1, dtype=np.int64)
            self._engine(self._feeds(ids, np.zeros_like(ids), np.full(rows, width)))
        return len(shapes)

    def run(self, requests: Sequence[EncoderRequest], answer: Answer, fail: Fail, is_per_token: bool) -> Work:
        """Encode all rows of all requests; `answer` is called for each request when its last row is done.

        A request that holds an id without a row in the model's tables, or with which the engine fails, fails alone.
        """
        windows = []
        for index, request in enumerate(requests):
            if problem := self._problem(request):
                fail(index, ValueError(problem))
            else:
                windows += _windows(index, request)
        waiting = np.bincount([window.request for window in windows], minlength=len(requests)).tolist()
        outputs = [self._blank(request, is_per_token) for request in requests]
        execution = _Execution(requests, windows, outputs, waiting)
        batches = self._batcher.cut([window.length for window in windows], self._workers)
        for batch, results, seconds in self._results(execution, batches):
            self._fill(execution, batch, results, answer, fail)
            _count(execution, batch, seconds)
        return execution.work

    def _problem(self, request: EncoderRequest) -> str:
        """Why the model cannot read a request; empty where it can. Not every engine would say so."""
        longest = int(request.lengths.max(initial=0))
        if longest > self._longest:
            return f"input 'lengths': a row of {longest} tokens, the model reads {self._longest} at most"
        return _foreign_id(request, self._facts)

    def _results(self, execution: _Execution, batches: Sequence[SubBatch]) -> Iterator[tuple[SubBatch, _Rows, float]]:
        """Every sub-batch with its results and seconds, as they are done. Only the caller's thread answers."""
        if self._pool is None or len(batches) == 1:
            yield from ((batch, *self._call(execution, batch)) for batch in batches)
            return
        pending = {self._pool.submit(self._call, execution, batch): batch for batch in batches}
        for done in as_completed(pending):
            yield (pending[done], *done.result())

    def _call(self, execution: _Execution, batch: SubBatch) -> tuple[_Rows, float]:
        """A sub-batch's rows of output, or for a row with which the engine fails why; and seconds in the engine."""
        spent_s = 0.0

        def encode(rows: Sequence[int]) -> Sequence[Array]:
            nonlocal spent_s
            feeds = self._feeds_of([execution.windows[index] for index in rows], execution, batch.padded_length)
            began = time.perf_counter()
            try:
                return list(self._engine(feeds))
            finally:
                spent_s += time.perf_counter() - began

        return isolated(batch.rows, encode), spent_s

    def _feeds_of(self, chosen: Sequence[_Window], execution: _Execution, padded_length: int) -> Mapping[str, Array]:
        shape = (len(chosen), padded_length)
        ids, types = np.full(shape, self._pad, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for line, window in enumerate(chosen):
            request, end = execution.requests[window.request], window.start + window.length
            ids[line, : window.length] = request.input_ids[window.row, window.start : end]
            if request.token_type_ids is not None:
                types[line, : window.length] = request.token_type_ids[window.row, window.start : end]
        return self._feeds(ids, types, np.array([window.length for window in chosen]))

    def _feeds(self, ids: Array, types: Array, lengths: Array) -> Mapping[str, Array]:
        feeds = {"input_ids": ids, "token_type_ids": types}
        places = np.arange(ids.shape[1])
        if "attention_mask" in self._inputs:
            feeds["attention_mask"] = (places < lengths[:, None]).astype(np.int64)
        if "position_ids" in self._inputs:
            feeds["position_ids"] = np.where(places < lengths[:, None], places, 0).astype(np.int64)
        return {name: feeds[name] for name in self._inputs}

    def _blank(self, request: EncoderRequest, is_per_token: bool) -> Array:
        """[rows, windows or tokens, width], all NaN: what a row lacks must not look like an answer."""
        lines = request.input_ids.shape[1] if is_per_token else request.lengths.shape[1]
        return np.full((len(request.input_ids), lines, self._width), np.nan, dtype=np.float32)

    def _fill(self, execution: _Execution, batch: SubBatch, results: _Rows, answer: Answer, fail: Fail) -> None:
        for index, result in zip(batch.rows, results, strict=True):
            window = execution.windows[index]
            if execution.waiting[window.request] < 0:
                continue
            if isinstance(result, Exception):
                execution.waiting[window.request] = _FAILED
                fail(window.request, result)
                continue
            output = execution.outputs[window.request][window.row]
            if result.ndim == 1:
                output[window.column] = result
            else:
                output[window.start : window.start + window.length] = result[: window.length]
            execution.waiting[window.request] -= 1
            if execution.waiting[window.request] == 0:
                answer(window.request, execution.outputs[window.request])


def _foreign_id(request: EncoderRequest, facts: EncoderFacts) -> str:
    """What is wrong with a request's ids; empty where each has its row in the model's tables."""
    tables = (
        ("input_ids", request.input_ids, facts.token_rows),
        ("token_type_ids", request.token_type_ids, facts.type_rows),
    )
    for name, ids, rows in tables:
        if ids is None or (ids.min(initial=0) >= 0 and (not rows or ids.max(initial=0) < rows)):
            continue
        lengths = request.lengths.sum(axis=1)
        is_token = np.arange(ids.shape[1]) < lengths[:, None]
        foreign = np.argwhere(is_token & ((ids < 0) | (ids >= rows if rows else False)))
        if len(foreign):  # what lies behind a row's tokens is never read
            row, place = foreign[0]
            known = f"0 to {rows - 1}" if rows else "0 and above"
            return (
                f"input '{name}', row {row}: the model has no embedding for the id {ids[row, place]}, only for {known}"
            )
    return ""


def _windows(index: int, request: EncoderRequest) -> list[_Window]:
    found = []
    for row, lengths in enumerate(request.lengths.tolist()):
        start = 0
        for column, length in enumerate(lengths):
            if length:
                found.append(_Window(index, row, column, start, length))
            start += length
    return found


def _count(execution: _Execution, batch: SubBatch, seconds: float) -> None:
    tokens = sum(execution.windows[index].length for index in batch.rows)
    execution.work.rows += len(batch.rows)
    execution.work.tokens += tokens
    execution.work.padding_tokens += len(batch.rows) * batch.padded_length - tokens
    execution.work.batches += 1
    execution.work.engine_s += seconds
