"""The two training loops: guess hidden tokens, then tell good reviews from bad ones."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

import numpy as np
import paddle
import paddle.nn.functional as F
from numpy.typing import NDArray
from paddle import nn
from paddlenlp.transformers import ErnieForSequenceClassification

from examples.sentiment.batches import Ids, bucketed, crop, mask, pad, thin
from examples.sentiment.network import MaskedLanguageModel
from examples.sentiment.recipe import Finetuning, Schedule

log = logging.getLogger(__name__)

Loss = Callable[[Ids], paddle.Tensor]


def pretrain(model: MaskedLanguageModel, sequences: list[list[int]], schedule: Schedule, seed: int) -> None:
    """Teach the model to guess hidden tokens of `sequences`, a fresh choice of tokens every epoch."""
    random = np.random.default_rng(seed)
    config = model.ernie.config

    def loss(rows: Ids) -> paddle.Tensor:
        texts = [crop(sequences[i], config.max_position_embeddings - 2, random) for i in rows]
        batch = mask(pad(texts, config.max_position_embeddings), config.vocab_size, random)
        logits = model(paddle.to_tensor(batch.input_ids), paddle.to_tensor(batch.places))
        return F.cross_entropy(logits, paddle.to_tensor(batch.tokens))

    _learn(model, loss, _lengths(sequences), schedule, random)


def finetune(
    model: ErnieForSequenceClassification,
    sequences: list[list[int]],
    targets: NDArray[np.float32],
    settings: Finetuning,
    seed: int,
) -> None:
    """Teach the model the `targets` [texts, labels], probabilities, each text thinned anew every epoch."""
    random = np.random.default_rng(seed)
    max_length = model.config.max_position_embeddings

    def loss(rows: Ids) -> paddle.Tensor:
        texts = [thin(sequences[i], settings.thinning, random) for i in rows]
        logits = model(paddle.to_tensor(pad(texts, max_length)))
        return F.cross_entropy(logits, paddle.to_tensor(targets[rows]), soft_label=True)

    _learn(model, loss, _lengths(sequences), settings.schedule, random)


def _learn(model: nn.Layer, loss: Loss, lengths: Ids, schedule: Schedule, random: np.random.Generator) -> None:
    steps = schedule.epochs * math.ceil(len(lengths) / schedule.batch_size)
    rate, optimizer = _optimizer(model, schedule, steps)
    model.train()
    for epoch in range(schedule.epochs):
        started, losses = time.monotonic(), []
        for rows in bucketed(lengths, schedule.batch_size, random):
            value = loss(rows)
            value.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            losses.append(float(value))
        seconds = time.monotonic() - started
        log.info("epoch %d of %d: loss %.4f, %.0f s", epoch + 1, schedule.epochs, np.mean(losses), seconds)


def _optimizer(
    model: nn.Layer, schedule: Schedule, steps: int
) -> tuple[paddle.optimizer.lr.LRScheduler, paddle.optimizer.Optimizer]:
    warmup = max(1, int(schedule.warmup_share * steps))

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))

    rate = paddle.optimizer.lr.LambdaDecay(schedule.learning_rate, factor)
    decayed = {parameter.name for parameter in model.parameters() if len(parameter.shape) > 1}
    optimizer = paddle.optimizer.AdamW(
        learning_rate=rate,
        parameters=model.parameters(),
        weight_decay=schedule.weight_decay,
        apply_decay_param_fun=decayed.__contains__,
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )
    return rate, optimizer


def _lengths(sequences: list[list[int]]) -> Ids:
    return np.asarray([len(sequence) for sequence in sequences], dtype=np.int64)
