"""Structured pruning: what counts for nothing goes first, what is left is dense, and a lesson brings it back."""

import re
from pathlib import Path

import numpy as np
import pytest

from converters.calibration import TaskTexts
from converters.export import EncoderSpec, EvaluationSpec, ExportSpec, PruningSpec, export
from converters.precisions import PrecisionError
from converters.pruning import prune
from converters.pruning.importance import Importance
from converters.pruning.layers import batch_of, encoder_layers
from converters.pruning.recovery import recover
from converters.pruning.shrinking import shrink
from converters.sources import Pooling, SourceModel, SourceOptions, open_source
from converters.sources.architectures import ALBERT, ARCHITECTURES, XLM_ROBERTA
from converters.spec import TrialSpec
from tests.conftest import CHECKPOINT, ROOT, TASK
from tests.converters.candidates import gate
from tests.converters.checkpoints import TEXTS, write_checkpoint
from trireme.contract.repository import Repository
from trireme.errors import UnsupportedError

TEST_ROWS = ROOT / "examples/sentiment/test.tsv"
REVIEWS = (ROOT / "examples/sentiment/reviews.txt").read_text(encoding="utf-8").splitlines()
_MEAN = SourceOptions(pooling=Pooling.MEAN)
_PRUNABLE = [
    name for name, entry in ARCHITECTURES.items() if entry.family.prefix not in {ALBERT.prefix, XLM_ROBERTA.prefix}
]


def pruned_half(source: SourceModel, checkpoint: Path, task: str, epochs: int = 0) -> SourceModel:
    """The source with half of its heads and neurons."""
    wanted = PruningSpec(0.5, epochs)
    encoder = EncoderSpec(calibration=Path("texts.txt"))
    spec = ExportSpec(checkpoint, task, "p", Path("r"), encoder, pruning=wanted, options=_MEAN)
    return prune(source, spec, wanted, TaskTexts(TEXTS, None), lambda line: None)[0]


def outputs(source: SourceModel) -> list[np.ndarray]:
    """What a source gives for each text alone."""
    rows = source.tokenize(TEXTS, None, source.traits.longest)
    return [source.forward({"input_ids": np.array([r.ids]), "token_type_ids": np.array([r.type_ids])}) for r in rows]


@pytest.mark.parametrize("name", _PRUNABLE)
def test_heads_and_neurons_that_do_nothing_are_cut_first_and_are_not_missed(name: str, tmp_path: Path) -> None:
    checkpoint, task = write_checkpoint(tmp_path / "c", name), ARCHITECTURES[name].head.tasks[0]
    source = open_source(checkpoint, task, _MEAN)
    for layer in encoder_layers(source):
        deaf, mute = layer.self_attn.out_proj.weight.numpy(), layer.linear2.weight.numpy()
        deaf[:16] = 0  # the first of two heads of 16
        mute[::2] = 0
        layer.self_attn.out_proj.weight.set_value(deaf)
        layer.linear2.weight.set_value(mute)
    source.layer.model.save_pretrained(str(checkpoint))
    smaller = pruned_half(source, checkpoint, task)
    for layer, whole in zip(encoder_layers(smaller), encoder_layers(source), strict=True):
        assert layer.self_attn.num_heads == 1
        assert layer.linear1.weight.shape[1] == whole.linear1.weight.shape[1] // 2
    for ours, theirs in zip(outputs(smaller), outputs(source), strict=True):
        assert np.abs(ours - theirs).max() < 1e-4


@pytest.mark.parametrize("name", ["ErnieMForSequenceClassification", "RobertaForTokenClassification", "UIE"])
def test_a_pruned_model_passes_every_gate(name: str, tmp_path: Path) -> None:
    task = ARCHITECTURES[name].head.tasks[0]
    source = open_source(write_checkpoint(tmp_path / "c", name), task)
    chance = np.random.default_rng(0)
    neurons = [layer.linear1.weight.shape[1] for layer in encoder_layers(source)]
    shrink(source, [Importance(chance.random(2), chance.random(count)) for count in neurons], 0.5)
    assert [row.status for row in gate(source, tmp_path / "candidate", task)] == ["passed"] * 4


@pytest.mark.parametrize("name", ["AlbertForSequenceClassification", "XLMRobertaForSequenceClassification"])
def test_layers_that_cannot_be_cut_are_refused_by_name(name: str, tmp_path: Path) -> None:
    checkpoint = write_checkpoint(tmp_path / "c", name)
    source = open_source(checkpoint, TASK)
    with pytest.raises(UnsupportedError, match=f"--prune of architecture '{name}'.*BERT"):
        pruned_half(source, checkpoint, TASK)


def test_recovery_brings_the_outputs_back_towards_the_originals() -> None:
    source = open_source(CHECKPOINT, TASK)
    smaller = pruned_half(source, CHECKPOINT, TASK)
    rows = source.tokenize(REVIEWS[:480], None, 64)

    def distance() -> float:
        held = source.tokenize(REVIEWS[-100:], None, 64)
        ours, theirs = (model.layer(*batch_of(source, held)).numpy() for model in (smaller, source))
        return float(np.square(ours - theirs).mean())

    before = distance()
    recover(smaller, source, rows, 3, lambda line: None)
    assert distance() < before / 2


def test_the_trials_of_a_comparison_share_what_a_pruned_model_has_learnt(tmp_path: Path) -> None:
    source = open_source(CHECKPOINT, TASK)
    encoder, texts = EncoderSpec(calibration=Path("texts.txt")), TaskTexts(REVIEWS[:64], None)

    def taught(share: float, epochs: int) -> tuple[list[np.ndarray], list[str]]:
        spoken: list[str] = []
        wanted = PruningSpec(share, epochs)
        spec = TrialSpec(CHECKPOINT, TASK, "p", Path("r"), encoder, pruning=wanted, lessons=tmp_path)
        made, facts = prune(source, spec, wanted, texts, spoken.append)
        assert (facts.recover_epochs, facts.texts) == (epochs, 64)
        return outputs(made), [line for line in spoken if line.startswith("recovering")]

    first, lessons = taught(0.5, 2)
    assert len(lessons) == 2
    again, none = taught(0.5, 2)
    assert none == []
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(first, again, strict=True))
    assert [len(taught(*other)[1]) for other in ((0.75, 2), (0.5, 1))] == [2, 1]


def test_a_pruned_release_is_compared_with_the_original_and_says_what_was_done(
    tmp_path: Path, repository: Path
) -> None:
    calibration = tmp_path / "calibration.txt"
    calibration.write_text("\n".join(REVIEWS[:400]), encoding="utf-8")
    spoken: list[str] = []
    manifest = export(
        ExportSpec(
            CHECKPOINT,
            TASK,
            "sentiment",
            tmp_path / "repository",
            EncoderSpec("onnxruntime", "int8", "dynamic", calibration),
            EvaluationSpec(TEST_ROWS, 3.0),
            PruningSpec(0.75, 1),
        ),
        spoken.append,
    )
    facts = manifest.encoder.pruning
    assert facts is not None
    assert (facts.share, facts.heads, facts.neurons, facts.recover_epochs, facts.texts) == (0.75, 3, 192, 1, 400)
    assert Repository(tmp_path / "repository").manifest("sentiment", 1).encoder.pruning == facts
    agreement = next(row for row in manifest.gates if row.gate == "agreement")
    assert agreement.value is not None
    assert 0.9 <= agreement.value < 1
    assert any(re.fullmatch(r"recovering: epoch 1 of 1, loss \d\.\d+", line) for line in spoken)
    small, whole = (path / "sentiment_encoder/1/model.onnx" for path in (tmp_path / "repository", repository))
    assert small.stat().st_size < 0.26 * whole.stat().st_size


def test_pruning_wants_texts_and_a_share(tmp_path: Path) -> None:
    with pytest.raises(PrecisionError, match="--prune: .*give --calibration FILE"):
        ExportSpec(CHECKPOINT, TASK, "p", tmp_path, pruning=PruningSpec(0.5))
    for share in (0.0, 1.0, 75.0):
        with pytest.raises(UnsupportedError, match="a share between 0 and 1"):
            PruningSpec(share)
