"""A model continued by its likeliest token each time."""

from collections.abc import Callable, Sequence

import numpy as np

from converters.generation.sources.base import Continuation, Logits


def greedily(after: Callable[[list[int]], Logits], new_tokens: int, end_ids: Sequence[int]) -> Continuation:
    """Continue a prompt, by so many tokens or up to one of `end_ids`.

    Args:
        after: the logits of the next token, FP32 [token rows], once these tokens have been found.
        new_tokens: most tokens.
        end_ids: tokens that end it, and are no part of it.
    """
    found: list[int] = []
    margins: list[float] = []
    while len(found) < new_tokens:
        last = after(found)
        second, first = np.sort(np.partition(last, -2)[-2:])
        token = int(last.argmax())
        if token in end_ids:
            break
        found.append(token)
        margins.append(float(first - second))
    return Continuation(tuple(found), tuple(margins))
