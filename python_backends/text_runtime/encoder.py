"""The encoder of a release: rows of many requests in, each request's output as soon as its last row is done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.batching import BatchingSettings, SubBatch, cut
from text_runtime.engines import Engine
from text_runtime.manifest import Manifest

Array = npt.NDArray[Any]
Answer = Callable[[int, Array], None]
"""Called once for each request, with its index in the execution and its output."""


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
        rows, tokens = self.input_ids.shape
        if self.lengths.shape[0] != rows:
            raise ValueError(f"input 'lengths' has {self.lengths.shape[0]} rows, 'input_ids' has {rows}")
        if self.lengths.min(initial=0) < 0 or self.lengths.sum(axis=1).max(initial=0) > tokens:
            raise ValueError(f"input 'lengths' counts more tokens than the {tokens} in 'input_ids'")
        if self.token_type_ids is not None and self.token_type_ids.shape != self.input_ids.shape:
            raise ValueError("input 'token_type_ids' has another shape than 'input_ids'")


@dataclass(frozen=True)
class _Window:
    request: int
    row: int
    column: int
    start: int
    length: int


class TextEncoder:
    """Batches by length whatever arrives together, and runs it on one engine."""

    def __init__(self, engine: Engine, manifest: Manifest, settings: BatchingSettings) -> None:
        self._engine = engine
        self._inputs = manifest.encoder.inputs
        self._pad = manifest.tokenizer.pad_token_id
        self._longest = manifest.tokenizer.max_length
        self._width = manifest.width
        self._settings = settings

    def run(self, requests: Sequence[EncoderRequest], answer: Answer, is_per_token: bool) -> None:
        """Encode all rows of all requests; `answer` is called for each request when its last row is done."""
        windows = [window for index, request in enumerate(requests) for window in _windows(index, request)]
        outputs = [self._blank(request, is_per_token) for request in requests]
        waiting = np.bincount([window.request for window in windows], minlength=len(requests))
        for batch in cut([window.length for window in windows], self._settings, self._longest):
            chosen = [windows[index] for index in batch.rows]
            self._fill(outputs, chosen, self._engine(self._feeds(requests, chosen, batch)))
            for window in chosen:
                waiting[window.request] -= 1
                if waiting[window.request] == 0:
                    answer(window.request, outputs[window.request])

    def _blank(self, request: EncoderRequest, is_per_token: bool) -> Array:
        """[rows, windows or tokens, width], all NaN: what a row lacks must not look like an answer."""
        lines = request.input_ids.shape[1] if is_per_token else request.lengths.shape[1]
        return np.full((len(request.input_ids), lines, self._width), np.nan, dtype=np.float32)

    def _fill(self, outputs: Sequence[Array], chosen: Sequence[_Window], results: Array) -> None:
        for window, result in zip(chosen, results, strict=True):
            if result.ndim == 1:
                outputs[window.request][window.row, window.column] = result
            else:
                end = window.start + window.length
                outputs[window.request][window.row, window.start : end] = result[: window.length]

    def _feeds(
        self, requests: Sequence[EncoderRequest], chosen: Sequence[_Window], batch: SubBatch
    ) -> Mapping[str, Array]:
        shape = (len(chosen), batch.padded_length)
        ids = np.full(shape, self._pad, dtype=np.int64)
        types = np.zeros(shape, dtype=np.int64)
        for line, window in enumerate(chosen):
            request, end = requests[window.request], window.start + window.length
            ids[line, : window.length] = request.input_ids[window.row, window.start : end]
            if request.token_type_ids is not None:
                types[line, : window.length] = request.token_type_ids[window.row, window.start : end]
        feeds = {"input_ids": ids, "token_type_ids": types}
        if "attention_mask" in self._inputs:
            feeds["attention_mask"] = _mask(chosen, shape)
        return {name: feeds[name] for name in self._inputs}


def _windows(index: int, request: EncoderRequest) -> list[_Window]:
    found = []
    for row, lengths in enumerate(request.lengths.tolist()):
        start = 0
        for column, length in enumerate(lengths):
            if length:
                found.append(_Window(index, row, column, start, length))
            start += length
    return found


def _mask(chosen: Sequence[_Window], shape: tuple[int, int]) -> Array:
    lengths = np.array([window.length for window in chosen])
    return (np.arange(shape[1]) < lengths[:, None]).astype(np.int64)
