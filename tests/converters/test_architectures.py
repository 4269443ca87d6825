"""Every registered architecture, exported from small random weights and compared with PaddleNLP through every gate."""

import re
from pathlib import Path

import pytest

from converters.sources import Pooling, SourceOptions, open_source
from converters.sources.architectures import ALL_FAMILIES, ARCHITECTURES, Head, architectures_table
from converters.token_rows import highest_in
from tests.converters.candidates import gate
from tests.converters.checkpoints import LABELS, write_checkpoint
from tests.converters.conftest import PIPELINES

pytestmark = pytest.mark.xdist_group("architectures")

COVERED = (
    *("BertModel", "BertForSequenceClassification", "BertForTokenClassification"),
    *("ErnieModel", "ErnieForSequenceClassification", "ErnieForTokenClassification", "UIE"),
    *("ErnieMModel", "ErnieMForSequenceClassification", "ErnieMForTokenClassification", "UIEM"),
    *("RobertaModel", "RobertaForSequenceClassification", "RobertaForTokenClassification"),
    *("AlbertModel", "AlbertForSequenceClassification", "AlbertForTokenClassification"),
    *("ElectraModel", "ElectraForSequenceClassification", "ElectraForTokenClassification"),
    *("XLMRobertaModel", "XLMRobertaForSequenceClassification", "XLMRobertaForTokenClassification"),
)
LONGEST = {"Roberta": 65, "XLMRoberta": 64, "ErnieM": 64}


def test_every_registered_architecture_has_a_case() -> None:
    assert sorted(COVERED) == sorted(ARCHITECTURES)


def test_every_row_of_the_table_names_a_test_that_there_is() -> None:
    rows = [row for row in architectures_table().splitlines() if row.startswith("| ") and "| `" in row]
    named = [re.findall(r"`(test_\w+\.py)\[(\w+)\]`", row) for row in rows]
    assert len(rows) == len(ARCHITECTURES)
    assert sorted(named) == sorted([(Path(__file__).name, name)] for name in COVERED)


def test_every_family_is_served_by_a_test() -> None:
    served = {ARCHITECTURES[case.architecture].family for case in PIPELINES.values()}
    assert served == set(ALL_FAMILIES)


@pytest.mark.parametrize("name", COVERED)
def test_an_architecture_passes_every_gate(name: str, tmp_path: Path) -> None:
    task = ARCHITECTURES[name].head.tasks[0]
    source = open_source(write_checkpoint(tmp_path / "c", name), task, SourceOptions(pooling=Pooling.MEAN))
    rows = gate(source, tmp_path / "candidate", task)
    assert [row.status for row in rows] == ["passed"] * 4
    assert source.traits.highest_token[1] == highest_in(tmp_path / "candidate/tokenizer/tokenizer.json")[1]
    assert source.traits.longest == LONGEST.get(ARCHITECTURES[name].family.prefix, 66)
    if ARCHITECTURES[name].head in {Head.CLASSES, Head.TOKENS}:
        assert source.labels.names == tuple(LABELS.values())
