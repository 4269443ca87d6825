"""The checks that a candidate must pass before it is published. They fail closed, in order.

What makes further checks meaningless raises at once. A figure beyond its limit gives a refused row, so that a refusal
can tell all figures; `require_passed` is what keeps such a candidate from being published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from converters import onnx_graph, paddle_graph
from converters.answer_gate import judged_answers
from converters.candidate import Candidate
from converters.corpus import texts_with
from converters.limits import limits_of, relative_difference
from converters.precisions.base import feed_of
from converters.precisions.fp16 import LARGEST, extreme_of
from converters.sources import TokenIds
from converters.token_rows import highest_in, require_row
from text_runtime.encoder.batching import BatchingSettings
from text_runtime.encoder.cpu import usable_cores
from text_runtime.encoder.encoder import EncoderRequest, TextEncoder
from text_runtime.encoder.engines import EngineSpec, load_engine
from text_runtime.manifest import PASSED, REFUSED, GateRow
from text_runtime.tasks import task
from text_runtime.tensors import SCHEMA, TEXT_PAIR
from text_runtime.tokenizers.tokenizer import FILE_NAME as TOKENIZER_NAME
from text_runtime.tokenizers.tokenizer import TextTokenizer, TokenizedRow
from trireme.contract.pipelines import Step
from trireme.errors import GateError

_OUTPUT_TEXTS = 96
_SPECIAL_TEXTS = 12


def run_gates(candidate: Candidate) -> Iterator[GateRow]:
    """Run every gate that needs no texts of the user's; gives a row for each.

    Raises:
        GateError: the graph is broken, does not load, has other tokens, or answers NaN.
    """
    encoder = candidate.manifest.encoder
    yield GateRow("graph", PASSED, _check_graph(candidate))
    served = _load(candidate)
    yield GateRow("load", PASSED, f"{encoder.engine} {encoder.precision}")
    require_row(highest_in(candidate.folders[Step.TOKENIZER] / TOKENIZER_NAME), encoder.token_rows)
    rows = _tokens(candidate)
    spans = f"; offsets of {_compare_offsets(candidate)} tokens" if task(candidate.manifest.task).is_per_token else ""
    yield GateRow("tokens", PASSED, f"{len(rows)} texts and pairs, id by id{spans}")
    chosen = _chosen(candidate, rows)
    if encoder.precision == "fp16":
        yield _range(candidate, chosen)
    difference = _outputs(candidate, served, chosen)
    limit = limits_of(encoder.precision).difference
    detail = f"largest difference {difference:.1e}, {limit:g} allowed for {encoder.precision}"
    yield GateRow("outputs", PASSED if difference <= limit else REFUSED, detail, difference, limit)
    yield from judged_answers(candidate)


def require_passed(rows: Sequence[GateRow]) -> None:
    """Refuse a candidate of which a gate has refused a figure; the error tells every figure that was measured.

    Raises:
        GateError: some row is a refused one.
    """
    refused = [row for row in rows if row.status == REFUSED]
    if refused:
        others = [row for row in rows if row.value is not None and row is not refused[0]]
        reasons = [refused[0].detail, *(f"{row.gate} {row.status}: {row.detail}" for row in others)]
        raise GateError(refused[0].gate, "; ".join(reasons))


def _check_graph(candidate: Candidate) -> str:
    encoder = candidate.manifest.encoder
    if candidate.graph.suffix == ".onnx":
        return onnx_graph.check(candidate.graph, encoder.inputs, encoder.output, candidate.manifest.width)
    return paddle_graph.check(candidate.graph, encoder.inputs)


def _range(candidate: Candidate, rows: Sequence[TokenizedRow]) -> GateRow:
    """Every tensor that is fp16 must stay below fp16's end, also where this CPU would not notice."""
    encoder = candidate.manifest.encoder
    feeds = (feed_of(TokenIds(row.ids, row.type_ids), encoder.inputs) for row in rows)
    extreme = extreme_of(candidate.folders[Step.ENCODER] / encoder.model, feeds)
    detail = f"largest value {extreme.magnitude:.3g} in '{extreme.tensor}', fp16 ends at {LARGEST:.0f}"
    is_inside = extreme.magnitude <= LARGEST
    return GateRow("range", PASSED if is_inside else REFUSED, detail, extreme.magnitude, LARGEST)


def _load(candidate: Candidate) -> TextEncoder:
    spec = EngineSpec(candidate.folders[Step.ENCODER], candidate.manifest.encoder, usable_cores())
    try:
        return TextEncoder(load_engine(spec), candidate.manifest, BatchingSettings())
    except Exception as error:
        raise GateError("load", f"{spec.facts.engine} does not load it ({error})") from error


def _tokens(candidate: Candidate) -> list[TokenizedRow]:
    """Every id of every text and of every pair must be the source's; the first that differs is shown.

    An embedding's texts have no pairs.
    """
    texts = list(candidate.corpus)
    rows = _compared(candidate, texts, None)
    if candidate.manifest.task == "embedding":
        return rows
    # A text with the one after next: short with long, so that either side of a pair has to be cut.
    return rows + _compared(candidate, texts, texts[2:] + texts[:2])


def _chosen(candidate: Candidate, rows: Sequence[TokenizedRow]) -> list[TokenizedRow]:
    """Rows for the model: spread over all lengths, and those that hold special tokens where nobody expects them."""
    inputs, type_rows = task(candidate.manifest.task).inputs, candidate.manifest.encoder.type_rows
    if TEXT_PAIR in inputs or SCHEMA in inputs:
        _require_types(rows, type_rows)
    fitting = [row for row in rows if not type_rows or max(row.type_ids, default=0) < type_rows]
    special = texts_with(candidate.source.traits.special_tokens)
    odd = fitting[len(candidate.corpus) - len(special) : len(candidate.corpus)] if special else []
    spread = sorted(fitting, key=lambda row: len(row.ids))[:: max(1, len(fitting) // _OUTPUT_TEXTS)]
    return [*spread, *odd[:: max(1, len(odd) // _SPECIAL_TEXTS)]]


def _require_types(rows: Sequence[TokenizedRow], type_rows: int) -> None:
    highest = max((max(row.type_ids, default=0) for row in rows), default=0)
    if highest >= type_rows > 0:
        problem = (
            f"the tokenizer gives a pair's second text the type {highest}, the model has {type_rows} types of tokens"
        )
        raise GateError("tokens", f"{problem}: it was not made for pairs")


def _compared(candidate: Candidate, texts: list[str], pairs: list[str] | None) -> list[TokenizedRow]:
    facts = replace(candidate.manifest.tokenizer, long_text="truncate")
    ours = TextTokenizer(candidate.folders[Step.TOKENIZER], facts).encode(texts, pairs)
    theirs = candidate.source.tokenize(texts, pairs, facts.max_length)
    has_types = "token_type_ids" in candidate.manifest.encoder.inputs  # a model without them never sees what is there
    for index, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        if our.ids != their.ids or (has_types and our.type_ids != their.type_ids):
            shown = repr(texts[index][:80]) + (f" with {pairs[index][:80]!r}" if pairs else "")
            raise GateError("tokens", f"{shown} encodes to {_shown(our)}, the source says {_shown(their)}")
    return ours


def _compare_offsets(candidate: Candidate) -> int:
    """Every token must stand for the characters that the source says it does; gives how many the source tells of.

    Asked of the tasks whose answers are stretches of the text.
    """
    facts = replace(candidate.manifest.tokenizer, long_text="truncate")
    ours = TextTokenizer(candidate.folders[Step.TOKENIZER], facts, has_spans=True).encode(candidate.corpus)
    theirs = candidate.source.token_offsets(candidate.corpus, facts.max_length)
    count = 0
    for text, our, their in zip(candidate.corpus, ours, theirs, strict=True):
        for (start, end, _), span in zip(our.spans.tolist(), their, strict=False):
            if span is not None and span != (start, end):
                found = f"{text[start:end]!r} at {start} to {end}, the source says {span[0]} to {span[1]}"
                raise GateError("tokens", f"a token of {text[:80]!r} is {found}")
            count += span is not None
    return count


def _shown(row: TokenizedRow | TokenIds) -> str:
    types = f" of types {row.type_ids[:20]}" if any(row.type_ids) else ""
    return f"{row.ids[:20]}{types}"


def _outputs(candidate: Candidate, served: TextEncoder, chosen: Sequence[TokenizedRow]) -> float:
    """Compare with the source on rows spread over all lengths, alone and in mixed batches.

    The source sees every row alone and unpadded, so its answer does not depend on how it masks padding.
    """
    truths = [candidate.source.forward(_feeds(row)) for row in chosen]
    starts = [(size, start) for size in (1, 7, 32) for start in range(0, len(chosen), size * 3)]
    is_per_token = truths[0].ndim == 3
    return max(
        _largest_difference(_encode(served, chosen[start : start + size], is_per_token), truths[start : start + size])
        for size, start in starts
    )


def _feeds(row: TokenizedRow) -> dict[str, npt.NDArray[Any]]:
    return {"input_ids": np.array([row.ids]), "token_type_ids": np.array([row.type_ids])}


def _largest_difference(ours: Sequence[npt.NDArray[Any]], theirs: Sequence[npt.NDArray[Any]]) -> float:
    """Of any output of any row, every token of it where it answers for tokens."""
    for our in ours:
        if np.isnan(our).any():
            raise GateError("outputs", f"NaN for one of {len(ours)} rows")
    return max(relative_difference(our, their) for our, their in zip(ours, theirs, strict=True))


def _raise(_: int, error: Exception) -> None:
    raise GateError("outputs", f"the engine fails with it ({error})") from error


def _encode(served: TextEncoder, batch: Sequence[TokenizedRow], is_per_token: bool) -> list[npt.NDArray[Any]]:
    """What the release's encoder gives for rows that arrive together: [1, width] or [1, tokens, width] for each."""
    results: dict[int, npt.NDArray[Any]] = {}
    requests = [
        EncoderRequest(np.array([row.ids]), np.array([[len(row.ids)]], dtype=np.int32), np.array([row.type_ids]))
        for row in batch
    ]
    served.run(requests, results.__setitem__, _raise, is_per_token)
    return [results[index] if is_per_token else results[index][:, 0] for index in range(len(batch))]
