"""The way from a checkpoint to a published release, from end to end."""

import logging
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from converters import onnx_graph, precisions
from converters.calibration import TaskTexts, calibration_of, read_task_texts
from converters.candidate import Candidate
from converters.corpus import generated_texts, texts_with
from converters.evaluation import EvaluationSpec
from converters.evaluation.candidate import EvaluationSet, evaluate, evaluation_gates, prepare_evaluation
from converters.gates import require_passed, run_gates
from converters.golden import record_golden
from converters.label_file import read_label_file
from converters.pruning import prune
from converters.publish import Draft, draft
from converters.release import ReleaseInputs, write_release
from converters.slowness import slowness_of
from converters.sources import SourceModel, open_source
from converters.spec import EncoderSpec, ExportSpec, PruningSpec, TrialSpec
from converters.targets import on_cpu
from text_runtime.facts import EncoderFacts
from text_runtime.golden import FILE_NAME as GOLDEN_NAME
from text_runtime.local import LocalPipeline
from text_runtime.manifest import EncoderManifest
from text_runtime.tasks import Labels, task
from trireme.contract.locking import building
from trireme.contract.pipelines import Contract, Step
from trireme.contract.repository import Repository
from trireme.errors import CheckpointError
from trireme.text_files import read_texts

__all__ = ["EncoderSpec", "EvaluationSpec", "ExportSpec", "PruningSpec", "export"]

_GENERATED_TEXTS = 500
_REFERENCES = {".onnx": "onnxruntime", ".json": "paddle"}
"""What runs the fp32 graph that every other candidate is compared with."""
_log = logging.getLogger(__name__)
Progress = Callable[[str], None]


@dataclass(frozen=True)
class _Job:
    """What is known before anything is written."""

    spec: ExportSpec
    source: SourceModel
    labels: Labels
    evaluation_set: EvaluationSet
    contract: Contract
    corpus: list[str]
    max_length: int
    progress: Progress


def export(spec: ExportSpec, progress: Progress = _log.info, wait_s: float = 0.0) -> EncoderManifest:
    """Export a checkpoint as the next release of a pipeline; gives the release's manifest.

    While another process builds the same pipeline it is refused at once, or waits up to `wait_s` seconds.

    Raises:
        TriremeError: the checkpoint, a gate, the pipeline's contract or the disk refused; nothing was published.
    """
    with building(spec.repository, spec.name, wait_s, progress):
        job = _open(spec, progress)
        with draft(Repository(spec.repository), job.contract) as current:
            return _publish(job, current)


def _open(spec: ExportSpec, progress: Progress) -> _Job:
    given = read_texts(spec.corpus) if spec.corpus else []
    progress("loading the checkpoint")
    source = open_source(spec.checkpoint, spec.task, spec.options)
    corpus = generated_texts(_GENERATED_TEXTS) + texts_with(source.traits.special_tokens) + given
    labels = _labels(spec, source)
    evaluation_set = prepare_evaluation(spec, labels)
    max_length = _max_length(spec, source)
    contract = spec.for_target.contract(spec.name, source.width, max_length, source.graph_inputs)
    return _Job(spec, source, labels, evaluation_set, contract, corpus, max_length, progress)


def _publish(job: _Job, current: Draft) -> EncoderManifest:
    spec, progress = job.spec, job.progress
    with tempfile.TemporaryDirectory(prefix="trireme-onnx-") as scratch:
        made_of = _release_inputs(job, Path(scratch))
        progress(f"building for {spec.encoder.choice} on {spec.encoder.target}")
        manifest = write_release(spec, made_of, current)
        candidate = Candidate(made_of.source, made_of.graph, current.steps, on_cpu(manifest), job.corpus)
        rows = []
        for row in run_gates(candidate):
            progress(f"gate {row.gate}: {row.status} ({row.detail})")
            rows.append(row)
        manifest = _evaluated(job, candidate, made_of, replace(manifest, gates=tuple(rows)))
        if not isinstance(spec, TrialSpec):
            require_passed(manifest.gates)
        (current.ensemble / GOLDEN_NAME).write_bytes(record_golden(candidate).to_json())
    return current.publish(manifest)


def _release_inputs(job: _Job, scratch: Path) -> ReleaseInputs:
    """The fp32 graph, calibration and labels that every precision starts from; of the pruned model where it is one."""
    spec = job.spec
    job.progress("exporting the graph")
    source, pruning = job.source, None
    graph = reference = _write_graph(job, source, scratch / "model")
    if spec.pruning:
        source, pruning = prune(source, spec, spec.pruning, _calibration_texts(spec), job.progress)
        graph = _write_graph(job, source, scratch / "pruned")
    calibration = None
    if precisions.is_calibrated(spec.encoder.choice):
        calibration = calibration_of(_calibration_texts(spec), source, job.max_length, job.progress)
    return ReleaseInputs(source, graph, reference, job.labels, job.contract, job.max_length, calibration, pruning)


def _write_graph(job: _Job, source: SourceModel, stem: Path) -> Path:
    if not precisions.needs_onnx(job.spec.encoder.choice):
        source.write_static(stem)
        return stem.with_suffix(".json")
    path = stem.with_suffix(".onnx")
    source.write_onnx(path)
    onnx_graph.name_output(path, job.contract.encoder_output.name)
    return path


def _calibration_texts(spec: ExportSpec) -> TaskTexts:
    assert spec.encoder.calibration is not None  # the spec has seen to it
    return read_task_texts(spec.encoder.calibration, spec.task)


def _evaluated(job: _Job, candidate: Candidate, made_of: ReleaseInputs, manifest: EncoderManifest) -> EncoderManifest:
    """The candidate beside the source's fp32 graph, which the gates of an fp32 release find equal to the source."""
    evaluation_set, choice = job.evaluation_set, job.spec.encoder.choice
    is_reference = precisions.is_plain_graph(choice) and made_of.reference == made_of.graph
    if is_reference and not evaluation_set.labelled:
        return manifest
    job.progress(f"asking {evaluation_set.size} of {evaluation_set.origin}")
    found = LocalPipeline({step.value: folder for step, folder in candidate.folders.items()}, candidate.manifest)
    truth = None if is_reference else _reference(candidate, made_of)
    result = evaluate(evaluation_set, found, truth)
    warnings = (*manifest.encoder.warnings, *(slowness_of(choice, evaluation_set, found, truth) if truth else []))
    verdicts = list(evaluation_gates(evaluation_set, result, manifest.encoder))
    for row in verdicts:
        job.progress(f"gate {row.gate}: {row.status} ({row.detail})")
    return replace(
        manifest,
        encoder=replace(manifest.encoder, warnings=warnings),
        gates=(*manifest.gates, *verdicts),
        evaluation=result.evaluation,
    )


def _reference(candidate: Candidate, made_of: ReleaseInputs) -> LocalPipeline:
    own, graph = candidate.manifest.encoder, made_of.reference
    facts = EncoderFacts(_REFERENCES[graph.suffix], "fp32", graph.name, own.inputs, own.output)
    folders = {step.value: folder for step, folder in candidate.folders.items()} | {Step.ENCODER.value: graph.parent}
    return LocalPipeline(folders, replace(candidate.manifest, encoder=facts))


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
    longest = source.traits.longest
    wanted = longest if spec.max_length is None else spec.max_length
    if not 3 <= wanted <= longest:
        problem = f"--max-length {wanted} does not fit the model, which takes up to {longest} tokens"
        raise CheckpointError(spec.checkpoint, problem, f"give a number from 3 to {longest}")
    return wanted
