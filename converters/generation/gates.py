"""The checks that a release that writes must pass before it is published. They fail closed, in order.

Free-running answers say little about a model in low precision, since one other token makes all that follow others. So a
lossy candidate reads real text beside its source: which token each would have chosen at every place, and how well each
foretells the text.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from converters.corpus import generated_texts, texts_with
from converters.generation.corpus import CONVERSATIONS, PROMPTS, prose
from converters.generation.graph import GRAPH_NAME, CausalGraph
from converters.generation.served import ServedEngine, served
from converters.generation.sources.base import CausalSource, Continuation, Logits
from converters.generation.spec import GenerationSpec
from converters.limits import relative_difference
from text_runtime.facts import GeneratorFacts
from text_runtime.generation.prompt import PromptReader
from text_runtime.manifest import PASSED, REFUSED, GateRow, GenerationManifest
from trireme.errors import CheckpointError, GateError

_TEXTS, _LONGEST_TEXT = 300, 1000
_PROSE_TOKENS = 192
_ANSWER_TOKENS = 24
_LONG_ANSWER_TOKENS, _PASSES = 48, 3
_LOGITS_LIMIT = 1e-4
_TIE = 1e-3
"""A margin between the first two tokens below which rounding may decide."""
_LOSSY_TIE = 0.2
"""The same where a cache or products in low precision round more."""
_ROUNDED_TIE = 0.5
"""The same where one token is computed by another kernel than several, and activations are rounded after each."""
_LEAST_AGREEMENT = {"bf16": 0.98, "int8": 0.93, "int4": 0.0}


@dataclass(frozen=True)
class GenerationCandidate:
    """A release before it is published: its source, its files, and what its manifest will say of it."""

    spec: GenerationSpec
    source: CausalSource
    folder: Path
    manifest: GenerationManifest
    answers: list[list[int]] = field(default_factory=list)
    """Its greedy answers to `PROMPTS`, once the gates have asked for them."""

    @property
    def facts(self) -> GeneratorFacts:
        """What runs it."""
        return self.manifest.generator

    @cached_property
    def graph(self) -> CausalGraph | None:
        """Its graph, where it is OpenVINO's, which can be run on whole texts."""
        if self.facts.model != GRAPH_NAME:
            return None
        return CausalGraph(self.folder, self.facts.inference_precision, self.facts.dynamic_quantization)

    @property
    def is_exact(self) -> bool:
        """Whether it is to answer as the source does, token by token."""
        own = self.facts
        return (own.precision, own.inference_precision, own.cache_precision) == ("fp32", "f32", "f32")


def run_gates(candidate: GenerationCandidate) -> Iterator[GateRow]:
    """Run every gate; gives a row for each.

    Raises:
        GateError: it does not load, has other tokens, or another chat template.
    """
    facts, reader = candidate.facts, _reader(candidate)
    yield GateRow("tokens", PASSED, f"{_compare_tokens(candidate, reader)} texts, id by id")
    yield GateRow("chat", PASSED, _compare_chat(candidate, reader))
    prompts = [reader.encode(text, parse_special_tokens=False) for text in PROMPTS]
    texts = [candidate.source.tokenize([text])[0][:_PROSE_TOKENS] for text in prose(candidate.spec.corpus)]
    texts = [ids for ids in texts if len(ids) > 1]
    with served(candidate.folder, candidate.manifest) as engine:
        yield GateRow("load", PASSED, f"{facts.engine} {facts.precision}, cache {facts.cache_precision}")
        together = engine.continue_greedily(prompts, _ANSWER_TOKENS)
        alone = [engine.continue_greedily([ids], _ANSWER_TOKENS)[0] for ids in prompts]
        scores = engine.score(texts)
        halves = [ids[: len(ids) // 2] for ids in texts]
        pace = _pace(engine, halves) if facts.prompt_lookup else None
    candidate.answers.extend(together)
    yield _batch_gate(prompts, alone, together, candidate)
    if pace is not None:
        yield _lookup_gate(candidate, halves, pace)
    if candidate.is_exact:
        yield _greedy_gate(candidate.source, prompts, together)
    yield from _reading_gates(candidate, texts, scores)


def _reader(candidate: GenerationCandidate) -> PromptReader:
    try:
        return PromptReader(candidate.folder, candidate.facts)
    except ValueError as error:
        raise GateError("chat", str(error)) from error


def _compare_tokens(candidate: GenerationCandidate, reader: PromptReader) -> int:
    texts = [text[:_LONGEST_TEXT] for text in generated_texts(_TEXTS) + list(PROMPTS)]
    texts += texts_with(candidate.source.traits.special_tokens)
    begin = candidate.facts.begin_id
    nothing = [[], [begin]]
    for text, wanted in zip(texts, candidate.source.tokenize(texts), strict=True):
        found = reader.encode(text, parse_special_tokens=True)
        if found != wanted and not (not found and wanted in nothing):
            raise GateError("tokens", f"{text[:40]!r} becomes {found[:8]}, and {wanted[:8]} in the source")
    return len(texts)


def _compare_chat(candidate: GenerationCandidate, reader: PromptReader) -> str:
    if not candidate.source.traits.chat_template:
        return "the checkpoint has no chat template"
    compared = 0
    for conversation in CONVERSATIONS:
        try:
            wanted = candidate.source.render_chat(conversation)
        except CheckpointError:
            continue  # its own library refuses it
        found = reader.render(conversation)
        if found != wanted:
            raise GateError("chat", f"a conversation becomes {found[:80]!r}, and {wanted[:80]!r} in the source")
        compared += 1
    if not compared:
        raise GateError("chat", "its own library refuses every conversation, so that nothing can be compared")
    return f"{compared} conversations as the source writes them"


def _batch_gate(
    prompts: Sequence[list[int]], alone: list[list[int]], together: list[list[int]], candidate: GenerationCandidate
) -> GateRow:
    """Asked alone, a prompt is answered as in a batch; another token is excused where the model is undecided."""
    same = _alike(candidate, prompts, alone, together, _TIE if candidate.is_exact else _LOSSY_TIE)
    detail = f"{same} of {len(prompts)} greedy answers in a batch equal those alone"
    return _judged("batch", same == len(prompts), detail, same, len(prompts))


@dataclass(frozen=True)
class _Pace:
    """Answers to texts that were asked one after the other, and how many tokens came in a second."""

    answers: list[list[int]]
    tokens_per_s: float


def _pace(engine: ServedEngine, texts: Sequence[list[int]]) -> _Pace:
    best, answers = 0.0, []
    for _ in range(_PASSES):
        began = time.perf_counter()
        answers = [engine.continue_greedily([ids], _LONG_ANSWER_TOKENS)[0] for ids in texts]
        best = max(best, sum(map(len, answers)) / (time.perf_counter() - began))
    return _Pace(answers, best)


def _lookup_gate(candidate: GenerationCandidate, texts: Sequence[list[int]], found: _Pace) -> GateRow:
    """Guessing changes no answer, and makes them come faster; what is continued is the corpus."""
    plain = replace(candidate.manifest, generator=replace(candidate.facts, prompt_lookup=0))
    with served(candidate.folder, plain) as engine:
        wanted = _pace(engine, texts)
    tie = _ROUNDED_TIE if candidate.facts.dynamic_quantization else _TIE if candidate.is_exact else _LOSSY_TIE
    same = _alike(candidate, texts, wanted.answers, found.answers, tie)
    ratio = found.tokens_per_s / wanted.tokens_per_s
    detail = f"{ratio:.2f} times as fast alone, {same} of {len(texts)} answers as without it"
    return _judged("prompt-lookup", same == len(texts) and ratio >= 1.0, detail, ratio, 1.0)


def _alike(
    candidate: GenerationCandidate,
    prompts: Sequence[list[int]],
    ones: Sequence[list[int]],
    others: Sequence[list[int]],
    tie: float,
) -> int:
    """How many prompts have the same answer twice, or part where the model's first two tokens are within a tie."""
    logits = (candidate.graph or candidate.source).logits
    return sum(_margin(logits, *answer) < tie for answer in zip(prompts, ones, others, strict=True))


def _margin(logits: Callable[[list[int]], Logits], prompt: list[int], one: list[int], other: list[int]) -> float:
    """How far apart the first two tokens are where two answers part; 0 where they do not."""
    place = _parting(one, other)
    if place is None:
        return 0.0 if len(one) == len(other) else math.inf
    second, first = np.sort(logits(prompt + one[:place])[-1])[-2:]
    return float(first - second)


def _greedy_gate(source: CausalSource, prompts: Sequence[Sequence[int]], answers: list[list[int]]) -> GateRow:
    wanted = [source.continue_greedily(ids, _ANSWER_TOKENS) for ids in prompts]
    same = sum(_is_same(*pair) for pair in zip(answers, wanted, strict=True))
    detail = f"{same} of {len(prompts)} greedy answers equal the source's"
    return _judged("greedy", same == len(prompts), detail, same, len(prompts))


def _is_same(found: list[int], wanted: Continuation) -> bool:
    """Whether an answer is the source's; a first difference is excused where the source itself was undecided."""
    place = _parting(found, wanted.ids)
    if place is None:
        return len(found) == len(wanted.ids)
    return wanted.margins[place] < _TIE


def _parting(one: Sequence[int], other: Sequence[int]) -> int | None:
    """Where two answers first differ; None where the shorter one is the beginning of the other."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (ours, theirs) in pairs if ours != theirs), None)


def _reading_gates(
    candidate: GenerationCandidate, texts: Sequence[list[int]], scores: Sequence[float]
) -> Iterator[GateRow]:
    """Both read the same texts: how far their logits differ, how often their first choices agree, how well they guess.

    The candidate's perplexity is the engine's own, from `scores`, and so with its cache's precision.
    """
    graph = candidate.graph
    difference, same, places, surprise = 0.0, 0, 0, 0.0
    for ids in texts:
        wanted = candidate.source.logits(ids)
        found = graph.logits(ids) if graph else wanted
        difference = max(difference, relative_difference(found, wanted))
        same += int((found.argmax(axis=1) == wanted.argmax(axis=1)).sum())
        places += len(ids)
        surprise += _surprise(wanted, ids)
    if graph and candidate.is_exact:
        detail = f"largest difference {difference:.1e}, {_LOGITS_LIMIT:g} allowed"
        yield _judged("logits", difference <= _LOGITS_LIMIT, detail, difference, _LOGITS_LIMIT)
    if graph:
        yield _agreement(candidate.facts, same / places, places)
    yield _perplexity(candidate.spec, surprise / (places - len(texts)), -sum(scores) / len(scores))


def _agreement(facts: GeneratorFacts, share: float, places: int) -> GateRow:
    kinds = {facts.precision, "bf16" if facts.inference_precision == "bf16" else "fp32"}
    least = min(_LEAST_AGREEMENT.get(kind, 0.999) for kind in kinds)
    detail = f"{share:.2%} of {places} tokens are the source's first choice too, {least:.1%} wanted"
    return _judged("agreement", share >= least, detail, share, least)


def _perplexity(spec: GenerationSpec, wanted: float, found: float) -> GateRow:
    ours, theirs, most = math.exp(found), math.exp(wanted), spec.max_perplexity_percent
    worse = 100 * (ours / theirs - 1)
    detail = f"{ours:.2f}, the source's is {theirs:.2f}: {worse:+.2f}%, {most:g}% allowed"
    return _judged("perplexity", worse <= most, detail, worse, most)


def _judged(gate: str, is_passed: bool, detail: str, value: float, limit: float) -> GateRow:
    return GateRow(gate, PASSED if is_passed else REFUSED, detail, float(value), float(limit))


def _surprise(logits: Logits, ids: Sequence[int]) -> float:
    """The negative log-likelihood of every token but the first, summed."""
    rows = logits[:-1].astype(np.float64)
    top = rows.max(axis=1)
    norm = top + np.log(np.exp(rows - top[:, None]).sum(axis=1))
    return float((norm - rows[np.arange(len(rows)), list(ids[1:])]).sum())
