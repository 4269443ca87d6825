"""Runs the gates on an opened source, without publishing: what an export does between opening and renaming."""

from pathlib import Path

import numpy as np

from converters import onnx_graph, precisions
from converters.corpus import generated_texts
from converters.gates import Candidate, require_passed, run_gates
from converters.sources import SourceModel
from text_runtime.manifest import EncoderFacts, GateRow, Manifest, SourceFacts, TokenizerFacts
from text_runtime.tokenizer import FILE_NAME
from trireme.contract import Step


def gate(source: SourceModel, folder: Path, task: str, corpus: list[str] | None = None) -> list[GateRow]:
    """Build a candidate in `folder` and pass it through every gate."""
    rows = list(run_gates(candidate_of(source, folder, task, corpus or generated_texts(120))))
    require_passed(rows)
    return rows


def candidate_of(source: SourceModel, folder: Path, task: str, corpus: list[str]) -> Candidate:
    """The candidate that an export on ONNX Runtime would make."""
    folders = {step: folder / step.value for step in Step}
    for path in folders.values():
        path.mkdir(parents=True)
    onnx = folder / "graph.onnx"
    source.write_onnx(onnx)
    onnx_graph.name_output(onnx, "out")
    source.write_tokenizer(folders[Step.TOKENIZER] / FILE_NAME)
    recipe = precisions.Recipe("fp32", onnx, folders[Step.ENCODER], source.graph_inputs)
    model = precisions.build(precisions.Choice("onnxruntime", "fp32"), recipe)
    manifest = Manifest(
        pipeline="p",
        release=1,
        task=task,
        width=source.width,
        created_at="",
        trireme_version="",
        source=SourceFacts("", "", "", {}),
        tokenizer=TokenizerFacts(
            source.longest,
            source.pad_token_id,
            truncation_side=source.truncation_side,
            odd_token=source.odd_token,
        ),
        encoder=EncoderFacts("onnxruntime", "fp32", model, source.graph_inputs, "out"),
    )
    return Candidate(source, onnx, folders, manifest, corpus)


def graph_difference(source: SourceModel, folder: Path, words: int) -> float:
    """Largest difference between the ONNX graph on padded rows and the source on each row alone, by random ids."""
    import onnxruntime

    path = folder / "graph.onnx"
    source.write_onnx(path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    chance = np.random.default_rng(0)
    lengths = (5, 1, source.longest, 17)
    ids = np.full((len(lengths), source.longest), source.pad_token_id, dtype=np.int64)
    for row, length in enumerate(lengths):
        ids[row, :length] = chance.integers(source.pad_token_id + 1, words, length)
    (result,) = session.run(None, {name: ids if name == "input_ids" else ids * 0 for name in source.graph_inputs})
    worst = 0.0
    for row, length in enumerate(lengths):
        alone = ids[row : row + 1, :length]
        truth = source.forward({"input_ids": alone, "token_type_ids": alone * 0})[0]
        worst = max(worst, float(np.abs((result[row, :length] if truth.ndim == 2 else result[row]) - truth).max()))
    return worst
