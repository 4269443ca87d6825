"""What Triton itself counted during a sample: batches, queueing and compute of every step, and the padding."""

import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass

import tritonclient.grpc as triton_grpc
from tritonclient.grpc.service_pb2 import ModelStatistics

from loadtest.bench.target import Target
from trireme.contract.pipelines import CHAIN, Step


@dataclass(frozen=True)
class StepCounts:
    """A step's counters so far: rows, executions, and nanoseconds queued and computed, summed over requests."""

    rows: int
    executions: int
    queue_ns: int
    compute_ns: int
    requests: int


@dataclass(frozen=True)
class Counts:
    """All counters of a pipeline at one moment."""

    steps: dict[str, StepCounts]
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
    with triton_grpc.InferenceServerClient(target.grpc_url) as client:
        versions = client.get_inference_statistics().model_stats
    names = {version.name for version in versions}
    chain = CHAIN if Step.TOKENIZER.model_name(target.pipeline) in names else (Step.JOINED,)
    steps = {step.value: _step_counts(versions, step.model_name(target.pipeline)) for step in chain}
    with urllib.request.urlopen(target.metrics_url, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return Counts(steps, _counter(lines, target, "tokens"), _counter(lines, target, "padding_tokens"))


def facts_between(before: Counts, after: Counts) -> tuple[dict[str, StepFacts], float]:
    """What happened between two readings: facts of every step, and padding as a share of all tokens encoded."""
    facts = {name: _facts(before.steps[name], after.steps[name]) for name in after.steps}
    padding = after.padding_tokens - before.padding_tokens
    tokens = after.tokens - before.tokens
    return facts, padding / (padding + tokens) if tokens else 0.0


def _step_counts(statistics: Sequence[ModelStatistics], model: str) -> StepCounts:
    versions = [version for version in statistics if version.name == model]
    return StepCounts(
        sum(version.inference_count for version in versions),
        sum(version.execution_count for version in versions),
        sum(version.inference_stats.queue.ns for version in versions),
        sum(version.inference_stats.compute_infer.ns for version in versions),
        sum(version.inference_stats.success.count for version in versions),
    )


def _counter(lines: list[str], target: Target, name: str) -> float:
    start, label = f"trireme_encoder_{name}_total{{", f'pipeline="{target.pipeline}"'
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(start) and label in line)


def _facts(before: StepCounts, after: StepCounts) -> StepFacts:
    requests = max(1, after.requests - before.requests)
    return StepFacts(
        (after.rows - before.rows) / max(1, after.executions - before.executions),
        (after.queue_ns - before.queue_ns) / requests / 1e6,
        (after.compute_ns - before.compute_ns) / requests / 1e6,
    )
