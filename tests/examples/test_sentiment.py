"""The demo's checkpoint and texts are what the other rooms may count on, and the split that made them is sound."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from converters.paddle_runtime import import_paddlenlp  # noqa: E402
from examples.sentiment import batches, corpus, embedding, start, texts, vocabulary  # noqa: E402

DEMO = REPOSITORY / "examples" / "sentiment"
CHECKPOINT = DEMO / "checkpoint"
SIZE_LIMIT_BYTES = 8_000_000


@pytest.fixture(scope="module")
def split() -> corpus.Split:
    return corpus.split_reviews(corpus.read_reviews())


def fingerprints(reviews: Sequence[corpus.Review]) -> set[str]:
    return {corpus.fingerprint(review.text) for review in reviews}


def test_the_checkpoint_is_small_enough_to_commit() -> None:
    assert sum(file.stat().st_size for file in CHECKPOINT.iterdir()) <= SIZE_LIMIT_BYTES


def test_the_checkpoint_holds_the_files_of_a_paddlenlp_checkpoint_and_no_others() -> None:
    assert {file.name for file in CHECKPOINT.iterdir()} == {
        "config.json",
        "model_state.pdparams",
        "special_tokens_map.json",
        "tokenizer_config.json",
        "vocab.txt",
    }


def test_the_labels_are_words() -> None:
    config = json.loads((CHECKPOINT / "config.json").read_text(encoding="utf-8"))
    assert config["architectures"] == ["ErnieForSequenceClassification"]
    assert config["id2label"] == {"0": "negative", "1": "positive"}
    assert config["label2id"] == {"negative": 0, "positive": 1}


def test_the_tokenizer_and_the_network_agree_on_vocabulary_and_length() -> None:
    config = json.loads((CHECKPOINT / "config.json").read_text(encoding="utf-8"))
    tokenizer = json.loads((CHECKPOINT / "tokenizer_config.json").read_text(encoding="utf-8"))
    tokens = (CHECKPOINT / "vocab.txt").read_text(encoding="utf-8").splitlines()
    assert len(tokens) == len(set(tokens)) == config["vocab_size"]
    assert tokenizer["model_max_length"] == config["max_position_embeddings"] >= 256
    assert tuple(tokens[: len(vocabulary.SPECIAL_TOKENS)]) == vocabulary.SPECIAL_TOKENS


def test_the_committed_scores_reach_the_aim() -> None:
    metrics = json.loads((DEMO / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["heldout_reviews"] == corpus.HELDOUT_SIZE
    assert metrics["heldout_at_128_tokens"]["accuracy"] >= 0.82


def test_the_labelled_texts_are_the_first_held_out_reviews(split: corpus.Split) -> None:
    reviews = texts.read_test(DEMO / "test.tsv")
    assert (DEMO / "test.tsv").read_text(encoding="utf-8").startswith("text\tlabel\n")
    assert len(reviews) == texts.TEST_SIZE
    assert {review.label for review in reviews} == {"negative", "positive"}
    assert tuple(reviews) == split.heldout[: texts.TEST_SIZE]


def test_the_plain_texts_are_held_out_reviews(split: corpus.Split) -> None:
    lines = (DEMO / "reviews.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert len(lines) == texts.LOAD_SIZE
    assert set(lines) <= {review.text for review in split.heldout}


def test_the_split_is_the_same_every_time(split: corpus.Split) -> None:
    assert corpus.split_reviews(corpus.read_reviews()) == split


def test_no_held_out_review_has_a_twin_among_the_training_reviews(split: corpus.Split) -> None:
    assert len(split.heldout) == corpus.HELDOUT_SIZE
    assert not fingerprints(split.heldout) & fingerprints(split.training)


def test_every_review_stands_once_and_has_one_label(split: corpus.Split) -> None:
    everything = [*split.training, *split.heldout]
    assert len(fingerprints(everything)) == len(everything) > 17_000


def test_a_review_with_an_unknown_label_is_refused() -> None:
    with pytest.raises(ValueError, match="neutral"):
        corpus.Review("还可以", "neutral")


def test_a_review_of_two_lines_is_refused() -> None:
    with pytest.raises(ValueError, match="one non-empty line"):
        corpus.Review("很好\n不错", "positive")


def test_a_split_that_holds_everything_out_is_refused(split: corpus.Split) -> None:
    with pytest.raises(ValueError, match="hold"):
        corpus.split_reviews(list(split.heldout), heldout_size=corpus.HELDOUT_SIZE)


def test_an_epoch_visits_every_text_once() -> None:
    lengths = np.arange(103)
    visited = np.concatenate(list(batches.bucketed(lengths, 8, np.random.default_rng(0))))
    assert sorted(visited) == list(range(103))


def test_a_masked_batch_remembers_what_it_hides() -> None:
    ids = batches.pad([list(range(10, 90)), list(range(10, 40))], max_length=64)
    hidden = batches.mask(ids, vocabulary_size=100, random=np.random.default_rng(0))
    assert ids.shape == (2, 64)
    assert (hidden.input_ids.ravel()[hidden.places] != hidden.tokens).any()
    assert (ids.ravel()[hidden.places] == hidden.tokens).all()
    assert (hidden.tokens >= len(vocabulary.SPECIAL_TOKENS)).all()


def test_tokens_used_alike_start_close_together() -> None:
    sequences = [[5, 6, 7], [5, 8, 7], [9, 10, 11], [9, 12, 11]] * 5
    vectors = embedding.embed_tokens(sequences, vocabulary_size=13, width=4, seed=0)
    assert vectors[6] @ vectors[8] > vectors[6] @ vectors[12]


def test_turned_waves_are_the_waves_of_another_place() -> None:
    frequencies = np.array([0.3, 1.1, 2.7])
    places = start.waves(10, frequencies)
    assert np.allclose(places[3] @ start.turn(frequencies, -2), places[1], atol=1e-6)
    assert np.allclose(places[3] @ start.turn(frequencies, 4), places[7], atol=1e-6)


def test_the_checkpoint_reloads_and_reads_reviews(tmp_path: Path) -> None:
    transformers = import_paddlenlp()
    paddle = pytest.importorskip("paddle")
    copy = shutil.copytree(CHECKPOINT, tmp_path / "checkpoint")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(copy))
    model = transformers.ErnieForSequenceClassification.from_pretrained(str(copy))
    model.eval()
    logits = [
        model(paddle.to_tensor([tokenizer(text)["input_ids"]]))
        for text in ("房间很干净，服务也好，非常满意", "质量太差了，很失望，退货")
    ]
    assert type(tokenizer) is transformers.ErnieTokenizer
    assert [int(answer.argmax()) for answer in logits] == [1, 0]
