"""The checks that a candidate must pass before it is published. They fail closed, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from converters import onnx_graph
from converters.sources import SourceModel
from text_runtime.batching import BatchingSettings
from text_runtime.cpu import usable_cores
from text_runtime.encoder import EncoderRequest, TextEncoder
from text_runtime.engines import EngineSpec, load_engine
from text_runtime.manifest import GateRow, Manifest
from text_runtime.tasks import task
from text_runtime.tensors import SCHEMA, TEXT_PAIR
from text_runtime.tokenizer import TextTokenizer, TokenizedRow, pad_rows
from trireme.contract import Step
from trireme.errors import GateError

TOLERANCES = {"fp32": 1e-4, "bf16": 0.2, "int8": 1.0}
"""Largest allowed absolute difference of a logit from the source's, by precision."""

_OUTPUT_TEXTS = 96


@dataclass(frozen=True)
class Candidate:
    """All that a gate may look at: the source, the graph, and the release as it would be published."""

    source: SourceModel
    onnx: Path
    folders: dict[Step, Path]
    manifest: Manifest
    corpus: Sequence[str]


def run_gates(candidate: Candidate) -> Iterator[GateRow]:
    """Run every gate; gives a row for each as it passes.

    Raises:
        GateError: a gate refused.
    """
    encoder = candidate.manifest.encoder
    facts = onnx_graph.check(candidate.onnx, encoder.inputs, encoder.output, candidate.manifest.width)
    yield GateRow("graph", "passed", facts)
    served = _load(candidate)
    yield GateRow("load", "passed", f"{encoder.engine} {encoder.precision}")
    rows = _tokens(candidate)
    yield GateRow("tokens", "passed", f"{len(rows)} texts, id by id")
    difference = _outputs(candidate, served, rows)
    yield GateRow(
        "outputs",
        "passed",
        f"largest difference {difference:.1e}, tolerance {TOLERANCES[encoder.precision]:.0e}",
    )


def _load(candidate: Candidate) -> TextEncoder:
    spec = EngineSpec(candidate.folders[Step.ENCODER], candidate.manifest.encoder, usable_cores())
    try:
        return TextEncoder(load_engine(spec), candidate.manifest, BatchingSettings())
    except Exception as error:
        raise GateError("load", f"{spec.facts.engine} does not load it ({error})") from error


def _tokens(candidate: Candidate) -> list[TokenizedRow]:
    """Every id of every text must be the source's; the first text that differs is shown."""
    facts = replace(candidate.manifest.tokenizer, long_text="truncate")
    pairs = _pairs(candidate)
    ours = TextTokenizer(candidate.folders[Step.TOKENIZER], facts).encode(candidate.corpus, pairs)
    theirs = candidate.source.tokenize(candidate.corpus, pairs, facts.max_length)
    for text, our, their in zip(candidate.corpus, ours, theirs, strict=True):
        if our.ids != their.ids or our.type_ids != their.type_ids:
            raise GateError("tokens", f"{text[:80]!r} encodes to {our.ids[:20]}, the source says {their.ids[:20]}")
    return ours


def _pairs(candidate: Candidate) -> list[str] | None:
    """Each text with its neighbour in the corpus, where the task takes pairs."""
    takes_pairs = {TEXT_PAIR, SCHEMA} & set(task(candidate.manifest.task).inputs)
    return [*candidate.corpus[1:], candidate.corpus[0]] if takes_pairs else None


def _outputs(candidate: Candidate, served: TextEncoder, rows: Sequence[TokenizedRow]) -> float:
    """Compare with the source on rows spread over all lengths, alone and in mixed batches."""
    chosen = sorted(rows, key=lambda row: len(row.ids))[:: max(1, len(rows) // _OUTPUT_TEXTS)]
    worst = 0.0
    for size in (1, 7, 32):
        for start in range(0, len(chosen), size * 3):
            batch = chosen[start : start + size]
            worst = max(worst, _difference(candidate, served, batch))
    if not worst <= TOLERANCES[candidate.manifest.encoder.precision]:
        raise GateError("outputs", f"it differs from the source by {worst:.2e}, more than its precision explains")
    return worst


def _difference(candidate: Candidate, served: TextEncoder, batch: Sequence[TokenizedRow]) -> float:
    ids = pad_rows([row.ids for row in batch], candidate.manifest.tokenizer.pad_token_id)
    types = pad_rows([row.type_ids for row in batch], 0)
    theirs = candidate.source.forward({"input_ids": ids, "token_type_ids": types})
    is_per_token = task(candidate.manifest.task).is_per_token
    worst = 0.0
    for row, our, their in zip(batch, _encode(served, batch, is_per_token), theirs, strict=True):
        if np.isnan(our).any():
            raise GateError("outputs", f"NaN for a batch of {len(batch)} rows of up to {ids.shape[1]} tokens")
        worst = max(worst, float(np.abs(our - (their[: len(row.ids)] if is_per_token else their)).max()))
    return worst


def _encode(served: TextEncoder, batch: Sequence[TokenizedRow], is_per_token: bool) -> list[npt.NDArray[Any]]:
    """One output a row: [tokens, width], or [1, width] for a pooled task."""
    results: dict[int, npt.NDArray[Any]] = {}
    requests = [
        EncoderRequest(np.array([row.ids]), np.array([[len(row.ids)]], dtype=np.int32), np.array([row.type_ids]))
        for row in batch
    ]
    served.run(requests, results.__setitem__, is_per_token)
    return [results[index][0] for index in range(len(batch))]
