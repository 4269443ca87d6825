"""What Triton itself counted during a sample: batches, queueing and compute of every step, and the padding."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadtest.bench.target import Target
from trireme.admin import Administrator, Endpoint, ModelCounts, Sample, scrape
from trireme.contract.pipelines import CHAIN, Step


@dataclass(frozen=True)
class Counts:
    """All counters of a pipeline at one moment."""

    steps: dict[str, ModelCounts]
    tokens: float
    padding_tokens: float


@dataclass(frozen=True)
class StepFacts:
    """One step during a sample: mean rows an execution, and mean milliseconds a request queued and computed."""

    mean_batch: float
    queue_ms: float
    compute_ms: float


def read_counts(target: Target) -> Counts:
    """Read the counters of a Triton target."""
    with Administrator(Endpoint(target.grpc_url)) as admin:
        models = admin.statistics()
    chain = CHAIN if Step.TOKENIZER.model_name(target.pipeline) in models else (Step.JOINED,)
    steps = {step.value: models.get(step.model_name(target.pipeline), ModelCounts()) for step in chain}
    samples = scrape(target.metrics_url)
    return Counts(steps, _counter(samples, target, "tokens"), _counter(samples, target, "padding_tokens"))


def facts_between(before: Counts, after: Counts) -> tuple[dict[str, StepFacts], float]:
    """What happened between two readings: facts of every step, and padding as a share of all tokens encoded."""
    facts = {name: _facts(before.steps[name], after.steps[name]) for name in after.steps}
    padding = after.padding_tokens - before.padding_tokens
    tokens = after.tokens - before.tokens
    return facts, padding / (padding + tokens) if tokens else 0.0


def _counter(samples: Sequence[Sample], target: Target, name: str) -> float:
    wanted = f"trireme_encoder_{name}_total", target.pipeline
    return sum(sample.value for sample in samples if (sample.name, sample.labels.get("pipeline")) == wanted)


def _facts(before: ModelCounts, after: ModelCounts) -> StepFacts:
    requests = max(1, after.requests - before.requests)
    return StepFacts(
        (after.rows - before.rows) / max(1, after.executions - before.executions),
        (after.queue_ns - before.queue_ns) / requests / 1e6,
        (after.compute_ns - before.compute_ns) / requests / 1e6,
    )
