"""The way from a checkpoint to a published release, from end to end."""

import logging
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from converters import onnx_graph, precisions
from converters.corpus import generated_texts, read_texts
from converters.evaluation import Evaluation, evaluation_gates, read_evaluation, scores_of
from converters.gates import Candidate, run_gates
from converters.golden import record_golden
from converters.label_file import read_label_file
from converters.precisions import Calibration, Recipe
from converters.publish import Draft, draft
from converters.sources import SourceModel, SourceOptions, open_source
from converters.targets import TargetSpec, on_cpu
from text_runtime.golden import FILE_NAME as GOLDEN_NAME
from text_runtime.labels import FILE_NAME as LABELS_NAME
from text_runtime.labels import labels_json
from text_runtime.local import LocalPipeline
from text_runtime.manifest import EncoderFacts, GateRow, Manifest, TokenizerFacts
from text_runtime.tasks import Labels, task, task_names
from text_runtime.tensors import TEXT_PAIR
from text_runtime.tokenizer import FILE_NAME as TOKENIZER_NAME
from text_runtime.tokenizer import TextTokenizer
from trireme import __version__
from trireme.contract import Contract, Step
from trireme.errors import CheckpointError, UnsupportedError
from trireme.locking import exclusive
from trireme.repository import Repository

_GENERATED_TEXTS = 500
_EVALUATED = ("text-classification", "text-pair-classification")
_LONG_TEXTS = ("truncate", "window")
_log = logging.getLogger(__name__)
Progress = Callable[[str], None]


@dataclass(frozen=True)
class ExportSpec:
    """What to export, as what, and where to. `max_length` counts tokens; None takes the model's own limit."""

    checkpoint: Path
    task: str
    name: str
    repository: Path
    engine: str = "onnxruntime"
    precision: str = "fp32"
    max_length: int | None = None
    corpus: Path | None = None
    labels: Path | None = None
    long_text: str = "truncate"
    options: SourceOptions = field(default_factory=SourceOptions)
    is_normalized: bool | None = None
    calibration: Path | None = None
    evaluation: Path | None = None
    max_drop_points: float = 0.5
    target: str = "cpu"

    def __post_init__(self) -> None:
        if self.task not in task_names():
            raise UnsupportedError("task", self.task, task_names())
        if self.long_text not in _LONG_TEXTS:
            raise UnsupportedError("--long-text", self.long_text, list(_LONG_TEXTS))
        if self.long_text == "window" and TEXT_PAIR in task(self.task).inputs:
            raise UnsupportedError(f"--long-text of {self.task}", self.long_text, ["truncate"])
        self.for_target.require_servable()

    @property
    def for_target(self) -> TargetSpec:
        """What depends on where the release is to be served."""
        return TargetSpec(self.target, self.engine, self.precision, self.task, self.long_text)


def export(spec: ExportSpec, progress: Progress = _log.info) -> Manifest:
    """Export a checkpoint as the next release of a pipeline; gives the release's manifest.

    Raises:
        TriremeError: the checkpoint, a gate, the pipeline's contract or the disk refused; nothing was published.
    """
    corpus = generated_texts(_GENERATED_TEXTS) + (read_texts(spec.corpus) if spec.corpus else [])
    progress("loading the checkpoint")
    source = open_source(spec.checkpoint, spec.task, spec.options)
    labels = _labels(spec, source)
    evaluation = _evaluation(spec, labels)
    contract = spec.for_target.contract(spec.name, source.width, _max_length(spec, source), source.graph_inputs)
    existed = spec.repository.exists()
    spec.repository.mkdir(parents=True, exist_ok=True)
    try:
        with exclusive(spec.repository, spec.name), draft(Repository(spec.repository), contract) as current:
            return _publish(spec, source, labels, current, contract, corpus, evaluation, progress)
    except BaseException:
        if not existed:
            spec.repository.rmdir()
        raise


def _publish(
    spec: ExportSpec,
    source: SourceModel,
    labels: Labels,
    current: Draft,
    contract: Contract,
    corpus: list[str],
    evaluation: Evaluation | None,
    progress: Progress,
) -> Manifest:
    with tempfile.TemporaryDirectory(prefix="trireme-onnx-") as scratch:
        onnx = Path(scratch) / "model.onnx"
        progress("exporting the graph")
        source.write_onnx(onnx)
        onnx_graph.name_output(onnx, contract.encoder_output.name)
        progress(f"building for {spec.engine} on {spec.target} in {spec.precision}")
        manifest = _write_steps(spec, source, current, contract, onnx)
        (current.steps[Step.POSTPROCESS] / LABELS_NAME).write_bytes(labels_json(labels))
        candidate = Candidate(source, onnx, current.steps, on_cpu(manifest), corpus)
        rows = []
        for row in run_gates(candidate):
            progress(f"gate {row.gate}: {row.status} ({row.detail})")
            rows.append(row)
        if evaluation:
            progress(f"evaluating on {len(evaluation.labels)} labelled texts")
            rows += _evaluate(candidate, evaluation)
        (current.ensemble / GOLDEN_NAME).write_bytes(record_golden(candidate).to_json())
    return current.publish(replace(manifest, gates=tuple(rows)))


def _write_steps(spec: ExportSpec, source: SourceModel, current: Draft, contract: Contract, onnx: Path) -> Manifest:
    source.write_tokenizer(current.steps[Step.TOKENIZER] / TOKENIZER_NAME)
    tokenizer = TokenizerFacts(
        _max_length(spec, source),
        source.pad_token_id,
        spec.long_text,
        source.truncation_side,
        source.odd_token,
        contract.gpu.buckets if contract.gpu else (),
    )
    return Manifest(
        pipeline=spec.name,
        release=current.release,
        task=spec.task,
        width=contract.width,
        created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        trireme_version=__version__,
        source=source.facts,
        tokenizer=tokenizer,
        encoder=_build_encoder(spec, source, current, tokenizer, onnx),
    )


def _build_encoder(
    spec: ExportSpec, source: SourceModel, current: Draft, tokenizer: TokenizerFacts, onnx: Path
) -> EncoderFacts:
    calibration = _calibration(spec.calibration, current, tokenizer) if spec.calibration else None
    recipe = Recipe(spec.precision, onnx, current.steps[Step.ENCODER], source.graph_inputs, calibration)
    engine = spec.for_target.graph_engine
    model = precisions.build(engine, recipe)
    quantized = precisions.facts_of(engine, recipe)
    output = task(spec.task).encoder_output(source.width).name
    return EncoderFacts(spec.engine, spec.precision, model, source.graph_inputs, output, quantized)


def _calibration(path: Path, current: Draft, facts: TokenizerFacts) -> Calibration:
    texts = read_texts(path)
    rows = TextTokenizer(current.steps[Step.TOKENIZER], facts).encode(texts)
    return Calibration([row.ids[: facts.max_length] for row in rows], precisions.sha256_of_texts(texts))


def _evaluate(candidate: Candidate, evaluation: Evaluation) -> list[GateRow]:
    """Compare with the fp32 graph, which the gates before have found equal to the source."""
    folders = {step.value: folder for step, folder in candidate.folders.items()}
    reference = replace(candidate.manifest.encoder, engine="onnxruntime", precision="fp32", model=candidate.onnx.name)
    truth = LocalPipeline(
        folders | {Step.ENCODER.value: candidate.onnx.parent}, replace(candidate.manifest, encoder=reference)
    )
    found = scores_of(LocalPipeline(folders, candidate.manifest), evaluation)
    return evaluation_gates(candidate.manifest.encoder.precision, found, scores_of(truth, evaluation), evaluation)


def _evaluation(spec: ExportSpec, labels: Labels) -> Evaluation | None:
    if spec.evaluation is None:
        return None
    if spec.task not in _EVALUATED:
        raise UnsupportedError("--evaluate for the task", spec.task, list(_EVALUATED))
    return read_evaluation(spec.evaluation, labels.names, spec.max_drop_points)


def _labels(spec: ExportSpec, source: SourceModel) -> Labels:
    """The release's labels: the checkpoint's, changed by the label file, and judged by the task."""
    labels = read_label_file(spec.labels, source.labels) if spec.labels else source.labels
    is_normalized = source.is_normalized if spec.is_normalized is None else spec.is_normalized
    labels = replace(labels, is_normalized=is_normalized)
    try:
        task(spec.task).decoder(labels, lambda tensors: tensors)
    except ValueError as error:
        raise CheckpointError(spec.checkpoint, str(error), "choose another --task") from error
    return labels


def _max_length(spec: ExportSpec, source: SourceModel) -> int:
    wanted = source.longest if spec.max_length is None else spec.max_length
    if not 3 <= wanted <= source.longest:
        problem = f"--max-length {wanted} does not fit the model, which takes up to {source.longest} tokens"
        raise CheckpointError(spec.checkpoint, problem, f"give a number from 3 to {source.longest}")
    return wanted
