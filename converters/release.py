"""Writes the steps of a release into a draft: tokenizer, encoder, labels, and the manifest that tells of them."""

from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from converters import precisions
from converters.precisions import Calibration, Recipe
from converters.publish import Draft
from converters.sources import SourceModel
from converters.spec import ExportSpec
from converters.token_rows import require_row
from text_runtime.facts import EncoderFacts, PruningFacts, TokenizerFacts
from text_runtime.manifest import EncoderManifest
from text_runtime.tasks import Labels
from text_runtime.tasks.label_files import FILE_NAME as LABELS_NAME
from text_runtime.tasks.label_files import labels_json
from text_runtime.tokenizers.tokenizer import FILE_NAME as TOKENIZER_NAME
from trireme import __version__
from trireme.contract.pipelines import Contract, Step


@dataclass(frozen=True)
class ReleaseInputs:
    """What a release is made of: `graph` is the fp32 graph of `source`.

    `reference` is the fp32 graph to compare answers with: the same, or that of the model before it was pruned.
    """

    source: SourceModel
    graph: Path
    reference: Path
    labels: Labels
    contract: Contract
    max_length: int
    calibration: Calibration | None = None
    pruning: PruningFacts | None = None


def write_release(spec: ExportSpec, made_of: ReleaseInputs, current: Draft) -> EncoderManifest:
    """Write every step's files; gives the manifest as it stands before the gates.

    Raises:
        OSError: the disk is full.
        PrecisionError: the encoder cannot be had in this precision.
        GateError: the tokenizer has tokens that the model has no row for.
    """
    source = made_of.source
    require_row(source.traits.highest_token, source.tables.tokens)  # before a vocabulary full of holes is written
    source.write_tokenizer(current.steps[Step.TOKENIZER] / TOKENIZER_NAME)
    (current.steps[Step.POSTPROCESS] / LABELS_NAME).write_bytes(labels_json(made_of.labels))
    return EncoderManifest(
        pipeline=spec.name,
        release=current.release,
        family=made_of.contract.family.name,
        task=spec.task,
        width=made_of.contract.width,
        created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        trireme_version=__version__,
        source=source.facts,
        tokenizer=_tokenizer(spec, made_of),
        encoder=_write_encoder(spec, made_of, current.steps[Step.ENCODER]),
    )


def _tokenizer(spec: ExportSpec, made_of: ReleaseInputs) -> TokenizerFacts:
    traits, gpu = made_of.source.traits, made_of.contract.gpu
    return TokenizerFacts(
        made_of.max_length,
        traits.pad_token_id,
        spec.long_text,
        traits.truncation_side,
        traits.odd_token,
        gpu.buckets if gpu else (),
        traits.preparation,
    )


def _write_encoder(spec: ExportSpec, made_of: ReleaseInputs, folder: Path) -> EncoderFacts:
    choice, inputs = spec.encoder.choice, made_of.source.graph_inputs
    recipe = Recipe(choice.precision, made_of.graph, folder, inputs, made_of.calibration)
    return EncoderFacts(
        engine=spec.encoder.engine,
        precision=choice.precision,
        model=precisions.build(choice, recipe),
        inputs=inputs,
        output=made_of.contract.encoder_output.name,
        calibration=precisions.facts_of(choice, recipe),
        method=choice.method,
        pruning=made_of.pruning,
        warnings=tuple(precisions.caveats(choice)),
        token_rows=made_of.source.tables.tokens,
        type_rows=made_of.source.tables.types,
    )
