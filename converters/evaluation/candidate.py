"""Texts that a candidate and its source in fp32 both answer: how far they agree, and what the task's metric loses."""

from collections.abc import Iterator
from dataclasses import dataclass

from converters.calibration import TaskTexts, read_task_texts
from converters.corpus import generated_texts
from converters.evaluation import Columns, Labelled, Metric, metric_of
from converters.limits import limits_of
from converters.spec import ExportSpec
from text_runtime.facts import EncoderFacts
from text_runtime.local import LocalPipeline
from text_runtime.manifest import PASSED, REFUSED, EvaluationFacts, GateRow, sha256_of
from text_runtime.tasks import Labels, task
from text_runtime.tensors import SCHEMA, TEXT, TEXT_PAIR
from trireme.text_files import read_texts

_MOST_TEXTS = 500
_GENERATED_TEXTS = 200
_SCHEMA = '["时间", "地点", "人物", "价格"]'


@dataclass(frozen=True)
class EvaluationSet:
    """Texts, where they are from, and the right answers where these are known."""

    metric: Metric
    columns: Columns
    origin: str
    is_real: bool = True
    labelled: Labelled | None = None
    sha256: str = ""
    max_drop_points: float = 0.0

    @property
    def size(self) -> int:
        """How many rows are asked."""
        return len(self.columns[TEXT.name])


@dataclass(frozen=True)
class EvaluationResult:
    """What came of an evaluation: `agreement` with the source, and the metric of both where right answers are known."""

    agreement: float
    evaluation: EvaluationFacts | None


def prepare_evaluation(spec: ExportSpec, labels: Labels) -> EvaluationSet:
    """The labelled texts if there are any, else the user's own texts, else generated strings.

    Raises:
        EvaluationError: the labelled texts cannot be used.
        TextFileError: the user's texts cannot be used.
        UnsupportedError: the task has no metric.
    """
    metric = metric_of(spec.task)
    if spec.evaluation:
        path, drop = spec.evaluation.path, spec.evaluation.max_drop_points
        labelled = metric.read(path, labels.names)
        return EvaluationSet(metric, labelled.columns, path.name, True, labelled, sha256_of(path), drop)
    if spec.encoder.calibration:
        texts = read_task_texts(spec.encoder.calibration, spec.task)
        return EvaluationSet(metric, _columns(spec.task, texts), spec.encoder.calibration.name)
    if spec.corpus:
        return EvaluationSet(metric, _columns(spec.task, TaskTexts(read_texts(spec.corpus), None)), spec.corpus.name)
    texts = TaskTexts(generated_texts(_GENERATED_TEXTS), None)
    return EvaluationSet(metric, _columns(spec.task, texts), "generated strings", is_real=False)


def _columns(task_name: str, texts: TaskTexts) -> dict[str, list[str]]:
    chosen = texts.spread(_MOST_TEXTS)
    first = list(chosen.texts)
    # A text with the one after next, where the user's texts are no pairs.
    made = {TEXT: first, TEXT_PAIR: list(chosen.pairs or first[2:] + first[:2]), SCHEMA: [_SCHEMA] * len(first)}
    return {tensor.name: made[tensor] for tensor in task(task_name).inputs}


def evaluate(asked: EvaluationSet, candidate: LocalPipeline, source: LocalPipeline | None) -> EvaluationResult:
    """Ask both; without a source, the candidate is the source's own fp32 graph on the reference engine."""
    answers = asked.metric.ask(candidate, asked.columns)
    theirs = asked.metric.ask(source, asked.columns) if source else answers
    agreement = asked.metric.agreement(answers, theirs)
    if asked.labelled is None:
        return EvaluationResult(agreement, None)
    value, source_value = (asked.metric.value(given, asked.labelled.truths) for given in (answers, theirs))
    drop = round(100 * (source_value - value), 6)  # 0.5 points must not become 0.5000000000000004
    facts = EvaluationFacts(asked.metric.name, value, source_value, drop, asked.size, asked.sha256)
    return EvaluationResult(agreement, facts)


def evaluation_gates(asked: EvaluationSet, result: EvaluationResult, encoder: EncoderFacts) -> Iterator[GateRow]:
    """The last two gates: agreement with the source in fp32, and the metric on labelled texts.

    Generated strings are no texts that anybody sends: agreement on them is told and not judged.
    """
    limit = limits_of(encoder.precision, encoder.pruning is not None).agreement
    is_agreed = result.agreement >= limit or not asked.is_real
    needed = f"{limit:.1%} needed" if asked.is_real else "not judged: give real texts with --evaluate or --corpus"
    detail = (
        f"{result.agreement:.2%} of {asked.metric.compared} as the source's on {asked.size} of {asked.origin}, {needed}"
    )
    yield _row("agreement", is_agreed, detail, result.agreement, limit if asked.is_real else None)
    if facts := result.evaluation:
        figures = f"{facts.metric} {facts.value:.4f}, the source's {facts.source_value:.4f}"
        detail = f"{figures}, {facts.drop_points:+.2f} points lost, at most {asked.max_drop_points} allowed"
        is_kept = facts.drop_points <= asked.max_drop_points
        yield _row("metric", is_kept, detail, facts.drop_points, asked.max_drop_points)


def _row(gate: str, is_passed: bool, detail: str, value: float, limit: float | None) -> GateRow:
    return GateRow(gate, PASSED if is_passed else REFUSED, detail, value, limit)
