"""The page of a comparison: the recommended candidate stands out, refused ones say why, and every number is there."""

import re
from importlib.metadata import requires
from pathlib import Path

import pytest

from converters.compare import FAILED, CandidateRow, Variant
from converters.compare_report import table_of, write_report
from converters.measure import Figures
from converters.precisions import Choice
from tests.reports.page_reader import bars_of, mark_of, of_class, read, text_of, width_of
from text_runtime.manifest import PASSED, REFUSED, EvaluationFacts

COMMAND = "trireme export checkpoint --name NAME --precision int8"
REASON = "metric: accuracy 0.700, the source's 0.820, +12.00 points lost, at most 0.5"
CRASH = "its process ended with -11: without a word"


def candidate(
    precision: str, texts_per_s: float, accuracy: float, status: str = PASSED, reason: str = ""
) -> CandidateRow:
    """A measured candidate."""
    figures = Figures(int(texts_per_s * 1024), 0.1, 10.0, 1.0, 10.0, texts_per_s)
    facts = EvaluationFacts("accuracy", accuracy, 0.82, 100 * (0.82 - accuracy), 500, "")
    return CandidateRow(Variant(Choice("engine", precision)), status, reason, figures, accuracy + 0.1, facts)


ROWS = [
    candidate("fp32", 2000.0, 0.82),
    candidate("int4", 4000.0, 0.70, REFUSED, REASON),
    candidate("int8", 3000.0, 0.81),
    CandidateRow(Variant(Choice("engine", "bf16")), FAILED, CRASH),
]


@pytest.fixture
def page(tmp_path: Path) -> str:
    """The page of a comparison."""
    write_report(ROWS, COMMAND, tmp_path)
    return (tmp_path / "compare.html").read_text(encoding="utf-8")


def test_speed_size_agreement_and_metric_of_each_measured_candidate_are_drawn(page: str) -> None:
    charts = dict(bars_of(read(page)))
    assert list(charts) == ["texts/s", "size, MiB", "agreement", "accuracy"]
    for rows in charts.values():
        assert list(rows) == ["engine int4", "engine int8", "engine fp32"]  # the fastest first
        assert all(width_of(row) is not None for row in rows.values())
    labels = [text_of(of_class(rows["engine int8"], "label")[-1]) for rows in charts.values()]
    assert labels == ["3,000 1.5×", "2.93 1.5×", "91.0%", "0.810"]


def test_the_recommended_one_is_strong_and_its_command_is_given(page: str) -> None:
    tree = read(page)
    for _, rows in bars_of(tree):
        assert [name for name, row in rows.items() if "strong" in row.get("class", "").split()] == ["engine int8"]
    assert [text_of(row[0]) for row in tree.iter("tr") if row.get("class") == "strong"] == ["engine int8"]
    assert " ".join(text_of(next(iter(tree.iter("code")))).split()) == COMMAND


def test_refused_and_failed_ones_say_why(page: str) -> None:
    tree = read(page)
    for _, rows in bars_of(tree):
        assert [name for name, row in rows.items() if "refused" in row.get("class", "").split()] == ["engine int4"]
    (reasons,) = of_class(tree, "reasons")
    assert [text_of(each) for each in reasons] == [f"engine int4 : {REASON}", f"engine bf16 : {CRASH}"]


def test_the_metric_is_held_against_the_sources_own(page: str) -> None:
    rows = dict(bars_of(read(page)))["accuracy"]
    assert len({mark_of(row) for row in rows.values()}) == 1
    assert mark_of(rows["engine fp32"]) == width_of(rows["engine fp32"])


def test_the_table_has_every_candidate_with_the_exact_numbers(page: str) -> None:
    headings, lines = table_of(ROWS)
    assert [[text_of(cell) for cell in row] for row in read(page).iter("tr")] == [headings, *lines]


def test_where_none_passed_the_page_says_so(tmp_path: Path) -> None:
    write_report(ROWS[3:], "", tmp_path)
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "No candidate passed." in page
    assert CRASH in page


def test_the_page_needs_nothing_beside_itself_and_not_the_load_tests_extra(page: str) -> None:
    assert not re.search(r"<script|<link|<img|https?://|@import|url\(", page)
    needed = [line for line in requires("trireme") or [] if line.startswith(("htpy", "trireme"))]
    assert any("convert" in line for line in needed), needed
