"""The recipe: every number that decides what the training makes, in one place.

The numbers were chosen on a part of the training reviews (`train.py --rehearse`), never on the held-out ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Shape:
    """The size of the network. Its 32-bit weights have to fit into 8 MB with the vocabulary."""

    vocabulary_size: int = 4500
    hidden_size: int = 128
    layers: int = 2
    heads: int = 4
    intermediate_size: int = 256
    max_length: int = 256


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to learn: the rate rises linearly, then falls along a cosine to nothing."""

    epochs: int
    learning_rate: float
    batch_size: int = 32
    warmup_share: float = 0.1
    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        if self.epochs < 0 or self.batch_size < 1 or not 0 < self.learning_rate < 1:
            raise ValueError(f"not a schedule: {self}")


@dataclass(frozen=True)
class Finetuning:
    """How the classifier learns: its schedule, the teacher's share of each target, and the noise on its texts."""

    schedule: Schedule = field(default_factory=lambda: Schedule(epochs=4, learning_rate=5e-4))
    teacher_share: float = 0.5
    dropout: float = 0.2
    thinning: float = 0.1


@dataclass(frozen=True)
class Recipe:
    """One training, from the seed to the last step."""

    shape: Shape = field(default_factory=Shape)
    pretraining: Schedule = field(default_factory=lambda: Schedule(epochs=8, learning_rate=1e-3))
    finetuning: Finetuning = field(default_factory=Finetuning)
    seed: int = 7
