"""The checks that a candidate must pass before it is published. They fail closed, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from converters import onnx_graph
from converters.sources import SourceModel, TokenIds
from text_runtime.batching import BatchingSettings
from text_runtime.cpu import usable_cores
from text_runtime.encoder import EncoderRequest, TextEncoder
from text_runtime.engines import EngineSpec, load_engine
from text_runtime.manifest import GateRow, Manifest
from text_runtime.tokenizer import TextTokenizer, TokenizedRow
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
    yield GateRow("tokens", "passed", f"{len(rows)} texts and pairs, id by id")
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
    """Every id of every text and of every pair must be the source's; the first that differs is shown."""
    texts = list(candidate.corpus)
    rows = _compared(candidate, texts, None)
    # A text with the one after next: short with long, so that either side of a pair has to be cut.
    return rows + _compared(candidate, texts, texts[2:] + texts[:2])


def _compared(candidate: Candidate, texts: list[str], pairs: list[str] | None) -> list[TokenizedRow]:
    facts = replace(candidate.manifest.tokenizer, long_text="truncate")
    ours = TextTokenizer(candidate.folders[Step.TOKENIZER], facts).encode(texts, pairs)
    theirs = candidate.source.tokenize(texts, pairs, facts.max_length)
    for index, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        if our.ids != their.ids or our.type_ids != their.type_ids:
            shown = repr(texts[index][:80]) + (f" with {pairs[index][:80]!r}" if pairs else "")
            raise GateError("tokens", f"{shown} encodes to {_shown(our)}, the source says {_shown(their)}")
    return ours


def _shown(row: TokenizedRow | TokenIds) -> str:
    types = f" of types {row.type_ids[:20]}" if any(row.type_ids) else ""
    return f"{row.ids[:20]}{types}"


def _outputs(candidate: Candidate, served: TextEncoder, rows: Sequence[TokenizedRow]) -> float:
    """Compare with the source on rows spread over all lengths, alone and in mixed batches.

    The source sees every row alone and unpadded, so its answer does not depend on how it masks padding.
    """
    chosen = sorted(rows, key=lambda row: len(row.ids))[:: max(1, len(rows) // _OUTPUT_TEXTS)]
    truths = [candidate.source.forward(_feeds(row)) for row in chosen]
    worst = max(
        _difference(_encode(served, chosen[start : start + size], truths[0].ndim == 3), truths[start : start + size])
        for size in (1, 7, 32)
        for start in range(0, len(chosen), size * 3)
    )
    if not worst <= TOLERANCES[candidate.manifest.encoder.precision]:
        raise GateError("outputs", f"it differs from the source by {worst:.2e}, more than its precision explains")
    return worst


def _feeds(row: TokenizedRow) -> dict[str, npt.NDArray[Any]]:
    return {"input_ids": np.array([row.ids]), "token_type_ids": np.array([row.type_ids])}


def _difference(ours: Sequence[npt.NDArray[Any]], theirs: Sequence[npt.NDArray[Any]]) -> float:
    """Largest absolute difference of any output of any row, every token of it where it answers for tokens."""
    for our in ours:
        if np.isnan(our).any():
            raise GateError("outputs", f"NaN for one of {len(ours)} rows")
    return max(float(np.abs(our - their).max()) for our, their in zip(ours, theirs, strict=True))


def _encode(served: TextEncoder, batch: Sequence[TokenizedRow], is_per_token: bool) -> list[npt.NDArray[Any]]:
    """What the release's encoder gives for rows that arrive together: [1, width] or [1, tokens, width] for each."""
    results: dict[int, npt.NDArray[Any]] = {}
    requests = [
        EncoderRequest(np.array([row.ids]), np.array([[len(row.ids)]], dtype=np.int32), np.array([row.type_ids]))
        for row in batch
    ]
    served.run(requests, results.__setitem__, is_per_token)
    return [results[index] if is_per_token else results[index][:, 0] for index in range(len(batch))]
