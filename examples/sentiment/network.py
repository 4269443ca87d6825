"""The network: a PaddleNLP ERNIE classifier, and a head over the same ERNIE that guesses hidden tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import paddle
from paddle import nn
from paddlenlp.transformers import ErnieConfig, ErnieForSequenceClassification

from examples.sentiment.corpus import LABELS
from examples.sentiment.recipe import Shape
from examples.sentiment.vocabulary import PAD_ID

if TYPE_CHECKING:
    from paddlenlp.transformers import ErnieModel


class MaskedLanguageModel(nn.Layer):  # type: ignore[misc]
    """An ERNIE with a head over the vocabulary that shares the token embeddings (Devlin et al. 2019)."""

    def __init__(self, ernie: ErnieModel) -> None:
        super().__init__()
        width = ernie.config.hidden_size
        self.ernie = ernie
        self.transform = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.bias = self.create_parameter([ernie.config.vocab_size], is_bias=True)

    def forward(self, input_ids: paddle.Tensor, places: paddle.Tensor) -> paddle.Tensor:
        """Logits [places, vocabulary] for the tokens at flat `places` of `input_ids` [batch, length]."""
        hidden, _ = self.ernie(input_ids)
        chosen = paddle.gather(hidden.reshape([-1, hidden.shape[-1]]), places)
        table = self.ernie.embeddings.word_embeddings.weight
        return paddle.matmul(self.transform(chosen), table, transpose_y=True) + self.bias


def build_classifier(shape: Shape, vocabulary_size: int, dropout: float) -> ErnieForSequenceClassification:
    """An ERNIE classifier with random weights and labels that are words."""
    config = ErnieConfig(
        vocab_size=vocabulary_size,
        hidden_size=shape.hidden_size,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.intermediate_size,
        hidden_act="relu",
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=shape.max_length,
        type_vocab_size=2,
        pad_token_id=PAD_ID,
        num_labels=len(LABELS),
        id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)},
    )
    return ErnieForSequenceClassification(config)
