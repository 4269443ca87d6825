"""Metrics: the file that each wants, and what it makes of answers."""

from pathlib import Path

import numpy as np
import pytest

from converters.evaluation import EvaluationError, EvaluationSpec, metric_of
from converters.export import ExportSpec, export
from tests.conftest import CHECKPOINT, TASK
from text_runtime.tasks import task_names
from trireme.errors import UnsupportedError

TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")


def written(folder: Path, content: str) -> Path:
    """A file of labelled texts."""
    path = folder / "labelled"
    path.write_text(content, encoding="utf-8")
    return path


def test_every_task_has_a_metric() -> None:
    assert all(metric_of(name).name for name in task_names())


def test_accuracy_is_the_share_of_right_labels(tmp_path: Path) -> None:
    metric = metric_of("text-classification")
    labelled = metric.read(written(tmp_path, 'text\tlabel\n"好\tp\n坏\tn\n'), ["p", "n"])
    assert labelled.columns == {"text": ['"好', "坏"]}
    assert metric.value(["p", "p"], labelled.truths) == 0.5


def test_a_pair_task_reads_both_texts(tmp_path: Path) -> None:
    labelled = metric_of("text-pair-classification").read(
        written(tmp_path, "text\ttext_pair\tlabel\na\tb\tsame\n"), ["same"]
    )
    assert labelled.columns == {"text": ["a"], "text_pair": ["b"]}


def test_macro_f1_counts_a_rare_label_as_much_as_a_frequent_one(tmp_path: Path) -> None:
    metric = metric_of("multi-label-classification")
    rows = "x\tnews\n" * 9 + "y\tnews, rare\nz\t\n"
    truths = metric.read(written(tmp_path, f"text\tlabels\n{rows}"), ["news", "rare"]).truths
    assert metric.value(truths, truths) == 1.0
    without_rare = [truth - {"rare"} for truth in truths]
    assert metric.value(without_rare, truths) == pytest.approx(0.5)
    assert metric.agreement(without_rare, truths) == pytest.approx(10 / 11)


def test_entities_are_read_from_conll_and_right_only_with_both_ends_and_the_label(tmp_path: Path) -> None:
    metric = metric_of("token-classification")
    content = "John B-PER\nSmith I-PER\nin O\nNew B-LOC\nYork I-LOC\n\n王 B-PER\n明 I-PER\n在 O\n北 B-LOC\n京 I-LOC\n"
    labelled = metric.read(written(tmp_path, content), TAGS)
    assert labelled.columns == {"text": ["John Smith in New York", "王明在北京"]}
    assert labelled.truths == [{(0, 10, "PER"), (14, 22, "LOC")}, {(0, 2, "PER"), (3, 5, "LOC")}]
    answers = [{(0, 10, "PER"), (18, 22, "LOC")}, {(0, 2, "LOC")}]
    assert metric.value(answers, labelled.truths) == pytest.approx(2 * 1 / (3 + 4))


def test_spearman_looks_at_the_order_of_scores_only(tmp_path: Path) -> None:
    metric = metric_of("reranking")
    truths = metric.read(written(tmp_path, "text\ttext_pair\tscore\na\tb\t0\na\tc\t2\na\td\t5\n"), []).truths
    assert metric.value([0.1, 0.2, 0.21], truths) == pytest.approx(1.0)
    assert metric.value([0.3, 0.2, 0.1], truths) == pytest.approx(-1.0)


def test_embeddings_are_judged_by_the_cosine_of_each_pair(tmp_path: Path) -> None:
    metric = metric_of("embedding")
    truths = metric.read(written(tmp_path, "text\ttext_pair\tscore\na\ta\t5\na\tb\t3\na\tc\t0\n"), []).truths
    pairs = [np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 3.0]])]
    assert metric.value(pairs, truths) == pytest.approx(1.0)
    assert metric.agreement([pair[0] for pair in pairs], [pair[1] for pair in pairs]) == pytest.approx(
        (1 + 2**-0.5 + 0) / 3
    )


BAD = [
    (TASK, "", "holds no row"),
    (TASK, "text\tlabel\n", "holds no row"),
    (TASK, "words\n好\n", "has the columns words"),
    (TASK, "text\tlabel\n好\n", "line 2 has fewer columns"),
    (TASK, "text\tlabel\n好\tgreat\n", "labels that the model does not know .great."),
    ("token-classification", "", "holds no text"),
    ("token-classification", "John B-PER\nSmith\n", "line 2 has no tag"),
    ("token-classification", "John B-DOG\n", "labels that the model does not know .B-DOG."),
    ("reranking", "text\ttext_pair\tscore\na\tb\thigh\n", "a score is no number"),
    ("embedding", "text\ttext_pair\tscore\na\tb\t1\na\tc\t1\n", "all scores are the same"),
]


@pytest.mark.parametrize(("task", "content", "words"), BAD, ids=[f"{task}: {words}" for task, _, words in BAD])
def test_a_bad_file_is_refused_in_one_line_that_says_what_to_give(
    tmp_path: Path, task: str, content: str, words: str
) -> None:
    metric = metric_of(task)
    with pytest.raises(EvaluationError, match=words) as refusal:
        metric.read(written(tmp_path, content), TAGS)
    assert "\n" not in str(refusal.value)
    assert metric.form in str(refusal.value)


def test_a_file_that_is_missing_or_not_utf_8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="No such file"):
        metric_of(TASK).read(tmp_path / "no", ["p"])
    (tmp_path / "gb").write_bytes("text\tlabel\n好\tp\n".encode("gb18030"))
    with pytest.raises(EvaluationError, match="codec can't decode"):
        metric_of(TASK).read(tmp_path / "gb", ["p"])


def test_a_bad_file_stops_an_export_before_anything_is_written(tmp_path: Path) -> None:
    path = written(tmp_path, "text\tlabel\n好\tgreat\n")
    with pytest.raises(EvaluationError, match="does not know"):
        export(ExportSpec(CHECKPOINT, TASK, "sentiment", tmp_path / "r", evaluation=EvaluationSpec(path)))
    assert not (tmp_path / "r").exists()


def test_information_extraction_has_no_labelled_files(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="information-extraction"):
        metric_of("information-extraction").read(tmp_path, [])
