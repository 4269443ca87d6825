"""Every registered architecture, exported from small random weights and compared with PaddleNLP through every gate."""

from pathlib import Path

import pytest

from converters.sources import Pooling, SourceOptions, open_source
from converters.sources.architectures import ARCHITECTURES, ERNIE_M, XLM_ROBERTA, Head
from tests.converters.candidates import gate, graph_difference
from tests.converters.checkpoints import LABELS, write_checkpoint

pytestmark = pytest.mark.xdist_group("architectures")

WORDS = 300
# Their SentencePiece tokenizers have tests of their own; here the graph is compared on random ids.
WITHOUT_WORDPIECE = {ERNIE_M.prefix, XLM_ROBERTA.prefix}
COVERED = (
    *("BertModel", "BertForSequenceClassification", "BertForTokenClassification"),
    *("ErnieModel", "ErnieForSequenceClassification", "ErnieForTokenClassification", "UIE"),
    *("ErnieMModel", "ErnieMForSequenceClassification", "ErnieMForTokenClassification", "UIEM"),
    *("RobertaModel", "RobertaForSequenceClassification", "RobertaForTokenClassification"),
    *("AlbertModel", "AlbertForSequenceClassification", "AlbertForTokenClassification"),
    *("ElectraModel", "ElectraForSequenceClassification", "ElectraForTokenClassification"),
)


def test_every_registered_architecture_has_a_case() -> None:
    assert sorted(COVERED) == sorted(ARCHITECTURES)


@pytest.mark.parametrize("name", [n for n in COVERED if ARCHITECTURES[n].family.prefix not in WITHOUT_WORDPIECE])
def test_an_architecture_passes_every_gate(name: str, tmp_path: Path) -> None:
    task = ARCHITECTURES[name].head.tasks[0]
    source = open_source(write_checkpoint(tmp_path / "c", name), task, SourceOptions(pooling=Pooling.MEAN))
    rows = gate(source, tmp_path / "candidate", task)
    assert [row.status for row in rows] == ["passed"] * 4
    assert source.longest == 66 - (1 if name.startswith("Roberta") else 0)
    if ARCHITECTURES[name].head in {Head.CLASSES, Head.TOKENS}:
        assert source.labels.names == tuple(LABELS.values())


@pytest.mark.parametrize("name", [n for n in COVERED if ARCHITECTURES[n].family.prefix in WITHOUT_WORDPIECE])
def test_a_graph_masks_padding_and_equals_the_source_on_every_row_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("converters.sources.paddlenlp._tokenizer", lambda *facts: NoTokenizer())
    task = ARCHITECTURES[name].head.tasks[0]
    folder = write_checkpoint(tmp_path / "c", name, words=WORDS)
    source = open_source(folder, task, SourceOptions(pooling=Pooling.MEAN))
    assert source.longest == 64
    assert graph_difference(source, tmp_path, WORDS) < 1e-4


class NoTokenizer:
    """Stands where a checkpoint has no tokenizer: only the graph is looked at."""

    pad_token_id, longest, truncation_side, odd_token = 1, 512, "right", "first"
