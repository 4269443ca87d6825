"""The way from a causal language model to a published release, from end to end."""

import json
import logging
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from converters.calibration import TaskTexts
from converters.gates import require_passed
from converters.generation.gates import GenerationCandidate, run_gates
from converters.generation.golden import record_golden
from converters.generation.graph import GRAPH_NAME
from converters.generation.precisions import compress_weights
from converters.generation.sources import open_causal_source
from converters.generation.sources.base import CausalSource
from converters.generation.spec import VLLM, GenerationSpec
from converters.publish import Draft, draft
from text_runtime.facts import CalibrationFacts, GeneratorFacts
from text_runtime.generation.files import SPECIAL_TOKENS_NAME, TEMPLATE_NAME, TOKENIZER_NAME
from text_runtime.golden import FILE_NAME as GOLDEN_NAME
from text_runtime.manifest import GENERATION_FAMILY, GenerationManifest
from trireme import __version__
from trireme.contract.locking import building
from trireme.contract.pipelines import GENERATION_TASK, GenerationContract, Step
from trireme.contract.repository import Repository
from trireme.errors import CheckpointError
from trireme.text_files import read_texts

_log = logging.getLogger(__name__)
Progress = Callable[[str], None]
_MODELS = {"openvino-genai": GRAPH_NAME, VLLM: "config.json"}
"""The file that stands for the model, by the engine that loads it."""
_COMPUTED_IN = {"fp32": "f32", "fp16": "f16", "bf16": "bf16"}
"""What vLLM computes in, and keeps its cache in, by the weights' precision."""
_CALIBRATION_TEXTS, _CALIBRATION_TOKENS = 128, 512
_COMPRESSED = {"int8", "int4"}


def export_generation(spec: GenerationSpec, progress: Progress = _log.info, wait_s: float = 0.0) -> GenerationManifest:
    """Export a causal language model as the next release of a pipeline; gives the release's manifest.

    While another process builds the same pipeline it is refused at once, or waits up to `wait_s` seconds.

    Raises:
        TriremeError: the checkpoint, a gate, the pipeline's contract or the disk refused; nothing was published.
    """
    with building(spec.repository, spec.name, wait_s, progress):
        progress("loading the checkpoint")
        with closing(open_causal_source(spec.checkpoint, spec.python)) as source:
            precision = _precision(spec, source)
            with draft(Repository(spec.repository), GenerationContract(spec.name)) as current:
                return _publish(spec, source, precision, current, progress)


def _publish(
    spec: GenerationSpec, source: CausalSource, precision: str, current: Draft, progress: Progress
) -> GenerationManifest:
    folder = current.steps[Step.GENERATOR]
    calibration = _write_model(spec, source, precision, folder, progress)
    source.write_tokenizer(folder / TOKENIZER_NAME)
    (folder / TEMPLATE_NAME).write_text(source.traits.chat_template, encoding="utf-8")
    (folder / SPECIAL_TOKENS_NAME).write_text(json.dumps(source.traits.named_tokens), encoding="utf-8")
    manifest = _manifest(spec, source, _facts(spec, source, precision, calibration), current.release)
    candidate, rows = GenerationCandidate(spec, source, folder, manifest), []
    for row in run_gates(candidate):
        progress(f"gate {row.gate}: {row.status} ({row.detail})")
        rows.append(row)
    require_passed(rows)
    (current.ensemble / GOLDEN_NAME).write_bytes(record_golden(candidate).to_json())
    return current.publish(replace(manifest, gates=tuple(rows)))


def _write_model(
    spec: GenerationSpec, source: CausalSource, precision: str, folder: Path, progress: Progress
) -> CalibrationFacts | None:
    """What the engine loads: OpenVINO's graph, or the checkpoint as Hugging Face lays it out.

    Gives what a method of compression looked at, None where none did.
    """
    if spec.engine == VLLM:
        progress("writing the checkpoint")
        source.write_checkpoint(folder, precision)
        return None
    progress("writing the graph")
    source.write_model(folder)
    if spec.precision not in _COMPRESSED or source.stored_precision:
        return None
    progress(f"compressing the weights to {spec.precision}")
    if not (spec.method and spec.calibration):
        compress_weights(folder, spec.precision)
        return None
    texts = TaskTexts(read_texts(spec.calibration), None).spread(_CALIBRATION_TEXTS)
    rows = [ids[:_CALIBRATION_TOKENS] for ids in source.tokenize(texts.texts)]
    compress_weights(folder, spec.precision, spec.method, [ids for ids in rows if len(ids) > 1])
    return CalibrationFacts(spec.method, len(texts.texts), texts.sha256)


def _precision(spec: GenerationSpec, source: CausalSource) -> str:
    """What the release's weights are in."""
    if not source.stored_precision:
        return spec.precision or "fp32"
    if spec.method or spec.precision not in (None, source.stored_precision):
        problem = f"its weights are {source.stored_precision} already, and cannot become {spec.precision}"
        raise CheckpointError(
            spec.checkpoint, problem, "leave --precision and --method out, or export the checkpoint it was made of"
        )
    return source.stored_precision


def _facts(
    spec: GenerationSpec, source: CausalSource, precision: str, calibration: CalibrationFacts | None
) -> GeneratorFacts:
    traits = source.traits
    wanted = traits.context_length if spec.context_length is None else spec.context_length
    if wanted > traits.context_length:
        problem = f"--context-length {wanted} does not fit the model, which takes {traits.context_length} tokens"
        raise CheckpointError(spec.checkpoint, problem, f"give at most {traits.context_length}")
    own = _COMPUTED_IN.get(precision, "f32") if spec.engine == VLLM else None
    return GeneratorFacts(
        engine=spec.engine,
        precision=precision,
        model=_MODELS[spec.engine],
        context_length=wanted,
        token_rows=traits.token_rows,
        end_ids=traits.end_ids,
        begin_id=traits.begin_id,
        inference_precision=own or spec.inference_precision or "f32",
        cache_precision=own or spec.cache_precision or "u8",
        calibration=calibration,
        prompt_lookup=spec.prompt_lookup,
        dynamic_quantization=spec.dynamic_quantization and precision in _COMPRESSED,
    )


def _manifest(spec: GenerationSpec, source: CausalSource, facts: GeneratorFacts, release: int) -> GenerationManifest:
    return GenerationManifest(
        pipeline=spec.name,
        release=release,
        family=GENERATION_FAMILY,
        task=GENERATION_TASK,
        created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        trireme_version=__version__,
        source=source.facts,
        generator=facts,
    )
