"""Every task's export is judged by the task's own metric on labelled texts, and by its agreement with the source."""

from pathlib import Path

import pytest

from converters.export import EncoderSpec, EvaluationSpec, ExportSpec, export
from converters.sources import Pooling, SourceOptions
from text_runtime.manifest import EncoderManifest

PAIRS = "text\ttext_pair\tscore\n屏幕清晰\t屏幕很好\t4.5\n屏幕清晰\t物流很快\t1\n价格便宜\t不贵\t4\n音质\t退货\t0\n"
LABELLED = {
    "multi-label-classification": ("topics", "text\tlabels\n球赛\t体育\n股票手机\t财经,科技\n没有\t\n", "macro-F1"),
    "text-pair-classification": ("pairs", "text\ttext_pair\tlabel\n好\t很好\tsame\n好\t坏\tdifferent\n", "accuracy"),
    "reranking": ("rerank", PAIRS, "Spearman"),
    "embedding": ("base", PAIRS, "Spearman"),
    "token-classification": ("tags", "王 B-PER\n明 I-PER\n在 O\n北 B-LOC\n京 I-LOC\n\n你 O\n好 O\n", "entity F1"),
}


def exported(checkpoint: Path, task: str, folder: Path, evaluation: EvaluationSpec | None) -> EncoderManifest:
    """A release on OpenVINO, which is compared with the fp32 graph on ONNX Runtime."""
    options = SourceOptions(pooling=Pooling.MEAN if task == "embedding" else None)
    return export(ExportSpec(checkpoint, task, "p", folder, EncoderSpec("openvino"), evaluation, options=options))


@pytest.mark.parametrize("task", LABELLED)
def test_an_export_states_the_tasks_own_metric(task: str, checkpoints: dict[str, Path], tmp_path: Path) -> None:
    name, content, metric = LABELLED[task]
    (tmp_path / "labelled").write_text(content, encoding="utf-8")
    manifest = exported(checkpoints[name], task, tmp_path / "r", EvaluationSpec(tmp_path / "labelled", 10.0))
    assert manifest.evaluation is not None
    assert manifest.evaluation.metric == metric
    # Random weights give vectors so alike that rounding may swap two of four ranks.
    assert manifest.evaluation.value == pytest.approx(manifest.evaluation.source_value, abs=0.1)
    assert [row.gate for row in manifest.gates][-2:] == ["agreement", "metric"]
    assert manifest.gates[-2].value == pytest.approx(1.0, abs=1e-6)


def test_without_labelled_texts_agreement_is_measured_all_the_same(
    checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    manifest = exported(checkpoints["uie"], "information-extraction", tmp_path / "r", None)
    row = manifest.gates[-1]
    assert (row.gate, row.limit, manifest.evaluation) == ("agreement", None, None)
    assert row.value is not None
    assert row.value > 0.99
