"""The way from a checkpoint to a published release, from end to end."""

import logging
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from converters import engines, onnx_graph
from converters.corpus import generated_texts, read_texts
from converters.gates import Candidate, run_gates
from converters.publish import Draft, draft
from converters.sources import SourceModel, SourceOptions, open_source
from text_runtime.labels import FILE_NAME as LABELS_NAME
from text_runtime.labels import labels_json
from text_runtime.manifest import EncoderFacts, Manifest, TokenizerFacts
from text_runtime.tokenizer import FILE_NAME as TOKENIZER_NAME
from trireme import __version__
from trireme.contract import Contract, Step
from trireme.errors import CheckpointError
from trireme.locking import exclusive
from trireme.repository import Repository

_GENERATED_TEXTS = 500
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
    options: SourceOptions = field(default_factory=SourceOptions)


def export(spec: ExportSpec, progress: Progress = _log.info) -> Manifest:
    """Export a checkpoint as the next release of a pipeline; gives the release's manifest.

    Raises:
        TriremeError: the checkpoint, a gate, the pipeline's contract or the disk refused; nothing was published.
    """
    corpus = generated_texts(_GENERATED_TEXTS) + (read_texts(spec.corpus) if spec.corpus else [])
    progress("loading the checkpoint")
    source = open_source(spec.checkpoint, spec.task, spec.options)
    contract = Contract(spec.name, spec.task, source.width)
    existed = spec.repository.exists()
    spec.repository.mkdir(parents=True, exist_ok=True)
    try:
        with exclusive(spec.repository, spec.name), draft(Repository(spec.repository), contract) as current:
            return _publish(spec, source, current, contract, corpus, progress)
    except BaseException:
        if not existed:
            spec.repository.rmdir()
        raise


def _publish(
    spec: ExportSpec,
    source: SourceModel,
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
        rows = []
        for row in run_gates(Candidate(source, onnx, current.steps, manifest, corpus)):
            progress(f"gate {row.gate}: {row.status} ({row.detail})")
            rows.append(row)
    return current.publish(replace(manifest, gates=tuple(rows)))


def _write_steps(spec: ExportSpec, source: SourceModel, current: Draft, contract: Contract, onnx: Path) -> Manifest:
    source.write_tokenizer(current.steps[Step.TOKENIZER] / TOKENIZER_NAME)
    (current.steps[Step.POSTPROCESS] / LABELS_NAME).write_bytes(labels_json(source.labels))
    model = engines.build(spec.engine, onnx, current.steps[Step.ENCODER])
    return Manifest(
        pipeline=spec.name,
        release=current.release,
        task=spec.task,
        width=contract.width,
        created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        trireme_version=__version__,
        source=source.facts,
        tokenizer=TokenizerFacts(
            _max_length(spec, source),
            source.pad_token_id,
            truncation_side=source.truncation_side,
            odd_token=source.odd_token,
        ),
        encoder=EncoderFacts(spec.engine, spec.precision, model, source.graph_inputs, contract.encoder_output.name),
    )


def _max_length(spec: ExportSpec, source: SourceModel) -> int:
    wanted = source.longest if spec.max_length is None else spec.max_length
    if not 3 <= wanted <= source.longest:
        problem = f"--max-length {wanted} does not fit the model, which takes up to {source.longest} tokens"
        raise CheckpointError(spec.checkpoint, problem, f"give a number from 3 to {source.longest}")
    return wanted
