"""The whole training in order: vocabulary, embeddings, hidden tokens, labels."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import paddle
from paddlenlp.transformers import ErnieForSequenceClassification, ErnieTokenizer

from examples.sentiment import vocabulary
from examples.sentiment.batches import Ids
from examples.sentiment.corpus import Review, read_newspaper
from examples.sentiment.embedding import embed_tokens
from examples.sentiment.evaluation import predict_logits
from examples.sentiment.learning import finetune, pretrain
from examples.sentiment.network import MaskedLanguageModel, build_classifier
from examples.sentiment.recipe import Recipe
from examples.sentiment.start import PLACE_WIDTH, start_network
from examples.sentiment.teacher import targets

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Trained:
    """A tokenizer and the classifier that was trained with it."""

    tokenizer: ErnieTokenizer
    model: ErnieForSequenceClassification

    def predict(self, reviews: Sequence[Review], max_length: int) -> Ids:
        """Label ids [reviews], each review cut to `max_length` tokens."""
        sequences = vocabulary.encode(self.tokenizer, (review.text for review in reviews))
        return np.asarray(predict_logits(self.model, sequences, max_length).argmax(axis=1))


def train_classifier(reviews: Sequence[Review], recipe: Recipe, folder: Path) -> Trained:
    """Train on `reviews`; the tokenizer's files land in `folder`."""
    texts = [review.text for review in reviews]
    labels = np.asarray([review.label_id for review in reviews], dtype=np.int64)
    tokenizer = make_tokenizer(texts, recipe, folder)
    sequences = vocabulary.encode(tokenizer, texts)
    model = start_classifier(sequences, len(tokenizer.vocab), recipe)
    log.info("guessing hidden tokens")
    pretrain(MaskedLanguageModel(model.ernie), sequences, recipe.pretraining, recipe.seed)
    log.info("telling good reviews from bad ones")
    goals = targets(texts, labels, recipe.finetuning.teacher_share)
    finetune(model, sequences, goals, recipe.finetuning, recipe.seed)
    return Trained(tokenizer, model)


def make_tokenizer(texts: Sequence[str], recipe: Recipe, folder: Path) -> ErnieTokenizer:
    """A tokenizer for the reviews, and for the newspaper's further characters."""
    log.info("counting words of %d reviews and of the newspaper", len(texts))
    reviews, newspaper = vocabulary.count_words(texts), vocabulary.count_words(read_newspaper())
    tokens = vocabulary.build_vocabulary(reviews, newspaper, recipe.shape.vocabulary_size)
    return vocabulary.write_tokenizer(tokens, folder, recipe.shape.max_length)


def start_classifier(
    sequences: list[list[int]], vocabulary_size: int, recipe: Recipe
) -> ErnieForSequenceClassification:
    """The network before it learns: random weights, but for what `start` knows from the reviews' statistics."""
    paddle.seed(recipe.seed)
    model = build_classifier(recipe.shape, vocabulary_size, recipe.finetuning.dropout)
    tokens = embed_tokens(sequences, vocabulary_size, recipe.shape.hidden_size - PLACE_WIDTH, recipe.seed)
    start_network(model.ernie, tokens, recipe.seed)
    return model
