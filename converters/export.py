"""The way from a checkpoint to a published release, from end to end."""

import logging
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from converters import engines, onnx_graph
from converters.corpus import generated_texts, read_texts
from converters.gates import Candidate, run_gates
from converters.golden import record_golden
from converters.label_file import read_label_file
from converters.publish import Draft, draft
from converters.sources import SourceModel, open_source
from text_runtime.golden import FILE_NAME as GOLDEN_NAME
from text_runtime.labels import FILE_NAME as LABELS_NAME
from text_runtime.labels import labels_json
from text_runtime.manifest import EncoderFacts, Manifest, TokenizerFacts
from text_runtime.tasks import Labels, task, task_names
from text_runtime.tensors import TEXT_PAIR
from text_runtime.tokenizer import FILE_NAME as TOKENIZER_NAME
from trireme import __version__
from trireme.contract import Contract, Step
from trireme.errors import CheckpointError, UnsupportedError
from trireme.locking import exclusive
from trireme.repository import Repository

_GENERATED_TEXTS = 500
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
    pooling: str = "mean"
    is_normalized: bool = True

    def __post_init__(self) -> None:
        if self.task not in task_names():
            raise UnsupportedError("task", self.task, task_names())
        if self.long_text not in _LONG_TEXTS:
            raise UnsupportedError("--long-text", self.long_text, list(_LONG_TEXTS))
        if self.long_text == "window" and TEXT_PAIR in task(self.task).inputs:
            raise UnsupportedError(f"--long-text of {self.task}", self.long_text, ["truncate"])


def export(spec: ExportSpec, progress: Progress = _log.info) -> Manifest:
    """Export a checkpoint as the next release of a pipeline; gives the release's manifest.

    Raises:
        TriremeError: the checkpoint, a gate, the pipeline's contract or the disk refused; nothing was published.
    """
    corpus = generated_texts(_GENERATED_TEXTS) + (read_texts(spec.corpus) if spec.corpus else [])
    progress("loading the checkpoint")
    source = open_source(spec.checkpoint, spec.task, spec.pooling)
    labels = _labels(spec, source)
    contract = Contract(spec.name, spec.task, source.width)
    existed = spec.repository.exists()
    spec.repository.mkdir(parents=True, exist_ok=True)
    try:
        with exclusive(spec.repository, spec.name), draft(Repository(spec.repository), contract) as current:
            return _publish(spec, source, labels, current, contract, corpus, progress)
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
    progress: Progress,
) -> Manifest:
    with tempfile.TemporaryDirectory(prefix="trireme-onnx-") as scratch:
        onnx = Path(scratch) / "model.onnx"
        progress("exporting the graph")
        source.write_onnx(onnx)
        onnx_graph.name_output(onnx, contract.encoder_output.name)
        progress(f"building for {spec.engine}")
        manifest = _write_steps(spec, source, current, contract, onnx)
        (current.steps[Step.POSTPROCESS] / LABELS_NAME).write_bytes(labels_json(labels))
        candidate = Candidate(source, onnx, current.steps, manifest, corpus)
        rows = []
        for row in run_gates(candidate):
            progress(f"gate {row.gate}: {row.status} ({row.detail})")
            rows.append(row)
        (current.ensemble / GOLDEN_NAME).write_bytes(record_golden(candidate).to_json())
    return current.publish(replace(manifest, gates=tuple(rows)))


def _write_steps(spec: ExportSpec, source: SourceModel, current: Draft, contract: Contract, onnx: Path) -> Manifest:
    source.write_tokenizer(current.steps[Step.TOKENIZER] / TOKENIZER_NAME)
    model = engines.build(spec.engine, onnx, current.steps[Step.ENCODER])
    return Manifest(
        pipeline=spec.name,
        release=current.release,
        task=spec.task,
        width=contract.width,
        created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        trireme_version=__version__,
        source=source.facts,
        tokenizer=TokenizerFacts(_max_length(spec, source), source.pad_token_id, spec.long_text),
        encoder=EncoderFacts(spec.engine, spec.precision, model, source.graph_inputs, contract.encoder_output.name),
    )


def _labels(spec: ExportSpec, source: SourceModel) -> Labels:
    """The release's labels: the checkpoint's, changed by the label file, and judged by the task."""
    labels = read_label_file(spec.labels, source.labels) if spec.labels else source.labels
    labels = replace(labels, is_normalized=spec.is_normalized)
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
