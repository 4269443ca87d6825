"""Runs the gates on an opened source, without publishing: what an export does between opening and renaming."""

from pathlib import Path

from converters import onnx_graph, precisions
from converters.candidate import Candidate
from converters.corpus import generated_texts
from converters.gates import require_passed, run_gates
from converters.sources import SourceModel
from text_runtime.facts import EncoderFacts, SourceFacts, TokenizerFacts
from text_runtime.manifest import EncoderManifest, GateRow
from text_runtime.tokenizers.tokenizer import FILE_NAME
from trireme.contract.pipelines import CHAIN, Step


def gate(source: SourceModel, folder: Path, task: str, corpus: list[str] | None = None) -> list[GateRow]:
    """Build a candidate in `folder` and pass it through every gate."""
    rows = list(run_gates(candidate_of(source, folder, task, corpus or generated_texts(120))))
    require_passed(rows)
    return rows


def candidate_of(source: SourceModel, folder: Path, task: str, corpus: list[str]) -> Candidate:
    """The candidate that an export on ONNX Runtime would make."""
    folders = {step: folder / step.value for step in CHAIN}
    for path in folders.values():
        path.mkdir(parents=True)
    onnx = folder / "graph.onnx"
    source.write_onnx(onnx)
    onnx_graph.name_output(onnx, "out")
    source.write_tokenizer(folders[Step.TOKENIZER] / FILE_NAME)
    recipe = precisions.Recipe("fp32", onnx, folders[Step.ENCODER], source.graph_inputs)
    model = precisions.build(precisions.Choice("onnxruntime", "fp32"), recipe)
    manifest = EncoderManifest(
        pipeline="p",
        release=1,
        task=task,
        width=source.width,
        created_at="",
        trireme_version="",
        source=SourceFacts("", "", "", {}),
        tokenizer=TokenizerFacts(
            source.traits.longest,
            source.traits.pad_token_id,
            truncation_side=source.traits.truncation_side,
            odd_token=source.traits.odd_token,
        ),
        encoder=EncoderFacts("onnxruntime", "fp32", model, source.graph_inputs, "out"),
    )
    return Candidate(source, onnx, folders, manifest, corpus)
