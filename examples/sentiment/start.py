"""Where the network starts: not at random, but knowing what tokens are alike and which tokens are neighbours.

Fourteen thousand reviews are too few for random attention to find out that a character's neighbours make it a word. So
the hidden vector is cut in two. The first part carries the token (see `embedding`); the rest carries its place as waves
of random frequency. Two such places agree only when they are equal, so a query that is turned by d steps finds
exactly the token d steps away (the rotation of Vaswani et al. 2017, section 3.5). All heads but one of the first
layer start that way; everything stays free to learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from paddle import nn
    from paddlenlp.transformers import ErnieModel

PLACE_WIDTH = 32
_OFFSETS = (-1, 1, -2)
_COMPONENT = 0.05
_SHARPNESS = 9.0

Floats = NDArray[np.float32]


def start_network(ernie: ErnieModel, tokens: Floats, seed: int) -> None:
    """Set embeddings and first attention; `tokens` is [vocabulary, hidden size less `PLACE_WIDTH`]."""
    embeddings = ernie.embeddings
    width, length = ernie.config.hidden_size, ernie.config.max_position_embeddings
    frequencies = np.random.default_rng(seed).uniform(0, np.pi, PLACE_WIDTH // 2)
    size = np.linalg.norm(tokens, axis=1, keepdims=True) / np.sqrt(tokens.shape[1])
    embeddings.word_embeddings.weight.set_value(_widen(tokens * _COMPONENT / (size + 1e-9), width, left=True))
    embeddings.position_embeddings.weight.set_value(_widen(waves(length, frequencies), width, left=False))
    for head, offset in enumerate(_OFFSETS):
        _point(ernie.encoder.layers[0].self_attn, head, offset, frequencies)


def waves(length: int, frequencies: NDArray[np.float64]) -> Floats:
    """Sines and cosines [length, 2 * frequencies] of each place, as large as a token's components."""
    angles = np.arange(length)[:, None] * frequencies[None, :]
    both = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    return np.asarray(_COMPONENT * np.sqrt(2) * both, dtype=np.float32)


def turn(frequencies: NDArray[np.float64], offset: int) -> Floats:
    """The matrix [waves, waves] that takes the waves of place i, from the right, to those of place i + offset."""
    cosines, sines = np.diag(np.cos(frequencies * offset)), np.diag(np.sin(frequencies * offset))
    return np.block([[cosines, -sines], [sines, cosines]]).astype(np.float32)


def _point(attention: nn.MultiHeadAttention, head: int, offset: int, frequencies: NDArray[np.float64]) -> None:
    """Let `head` look at the token `offset` steps away."""
    width = attention.head_dim
    if width != PLACE_WIDTH:
        raise ValueError(f"a head is {width} wide, but a place takes {PLACE_WIDTH} components")
    columns = slice(head * width, (head + 1) * width)
    scale = np.sqrt(_SHARPNESS / np.sqrt(width))
    for projection, matrix in ((attention.q_proj, turn(frequencies, offset)), (attention.k_proj, np.eye(width))):
        weight = projection.weight.numpy()
        weight[:, columns] = 0
        weight[-PLACE_WIDTH:, columns] = scale * matrix
        projection.weight.set_value(weight)


def _widen(part: Floats, width: int, left: bool) -> Floats:
    """`part` [rows, less than width] as the left or the right of a matrix [rows, width] of noughts."""
    whole = np.zeros((len(part), width), dtype=np.float32)
    if left:
        whole[:, : part.shape[1]] = part
    else:
        whole[:, width - part.shape[1] :] = part
    return whole
