"""A short lesson after pruning: the smaller model learns the original's outputs on real texts, without labels."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from converters.precisions.base import Progress
from converters.pruning.layers import batch_of
from converters.sources import SourceModel, TokenIds

_BATCH = 32
_POOL = 16
"""Batches that are sorted by length together: little padding, and still another mixture every epoch."""
_WARMUP_SHARE = 0.1
_RATE_TIMES_WIDTH = 0.064
"""Peak learning rate times hidden size: 5e-4 for the demo's 128, 8e-5 for 768."""


def recover(
    pruned: SourceModel, original: SourceModel, rows: Sequence[TokenIds], epochs: int, progress: Progress
) -> None:
    """Train the pruned model in place towards the original's outputs by their mean squared difference.

    Ba and Caruana (2014), "Do Deep Nets Really Need to be Deep?": outputs before the softmax tell a student more than
    labels. Dropout stays off and the order comes from a fixed seed, so that one machine gives one result.
    """
    import paddle

    chance = np.random.default_rng(0)
    rate, optimizer = _optimizer(pruned, epochs * math.ceil(len(rows) / _BATCH))
    for epoch in range(epochs):
        losses = []
        for batch in _batches(rows, chance):
            inputs = batch_of(pruned, batch)
            with paddle.no_grad():
                wanted = original.layer(*inputs)
            mask = inputs[pruned.graph_inputs.index("attention_mask")]
            loss = _difference(pruned.layer(*inputs), wanted, mask)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            losses.append(float(loss))
        progress(f"recovering: epoch {epoch + 1} of {epochs}, loss {np.mean(losses):.4f}")


def keep(pruned: SourceModel, lesson: Path) -> None:
    """Write down what a recovered model has learnt, whole or not at all."""
    import paddle

    unseen = lesson.with_suffix(".new")
    paddle.save(pruned.layer.state_dict(), str(unseen))
    unseen.rename(lesson)


def remember(pruned: SourceModel, lesson: Path) -> bool:
    """Take over what an equally pruned model has learnt; gives whether there was a lesson."""
    import paddle

    if not lesson.is_file():
        return False
    pruned.layer.set_state_dict(paddle.load(str(lesson)))
    return True


def _difference(found: Any, wanted: Any, mask: Any) -> Any:
    """Mean squared difference; of a head that answers for tokens, without those of the padding."""
    squares = (found - wanted).square()
    if squares.ndim == 2:
        return squares.mean()
    weights = mask.astype(squares.dtype).unsqueeze(-1)
    return (squares * weights).sum() / (weights.sum() * squares.shape[-1])


def _batches(rows: Sequence[TokenIds], chance: np.random.Generator) -> Iterator[list[TokenIds]]:
    order = chance.permutation(len(rows))
    for start in range(0, len(order), _BATCH * _POOL):
        pool = sorted((rows[index] for index in order[start : start + _BATCH * _POOL]), key=lambda row: len(row.ids))
        batches = [pool[begin : begin + _BATCH] for begin in range(0, len(pool), _BATCH)]
        yield from (batches[index] for index in chance.permutation(len(batches)))


def _optimizer(pruned: SourceModel, steps: int) -> tuple[Any, Any]:
    import paddle

    warmup = max(1, round(_WARMUP_SHARE * steps))

    def factor(step: int) -> float:
        """Up in a line, down in half a cosine."""
        if step < warmup:
            return (step + 1) / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))

    peak = _RATE_TIMES_WIDTH / pruned.layer.model.config.hidden_size
    rate = paddle.optimizer.lr.LambdaDecay(peak, factor)
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    parameters = pruned.layer.parameters()
    return rate, paddle.optimizer.AdamW(rate, parameters=parameters, weight_decay=0.01, grad_clip=clip)
