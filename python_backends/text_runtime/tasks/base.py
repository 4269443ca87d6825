"""What a task is: the outputs a pipeline promises, and the decoder that turns the encoder's tensors into them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from text_runtime.tensors import TEXT, TensorSpec

Tensors = Mapping[str, np.ndarray[Any, Any]]
"""The tensors of one request by name, each with the request's rows as its first dimension."""


class Decoder(Protocol):
    """Turns what the encoder gave into what the pipeline promises, for all requests of one execution."""

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        """Decode every request; the answers stand in the order of the requests."""


@dataclass(frozen=True)
class Labels:
    """The words for the encoder's output columns, and what a task needs to know about them."""

    names: tuple[str, ...]
    activation: str = "softmax"

    def __post_init__(self) -> None:
        if not self.names:
            raise ValueError("a label list may not be empty")
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"labels {self.names} hold one name twice")
        if self.activation not in {"softmax", "sigmoid"}:
            raise ValueError(f"activation {self.activation!r} is neither softmax nor sigmoid")


class Task(ABC):
    """A registered task. Its contract is data; only `decoder` does work, and only inside the postprocess step."""

    name: ClassVar[str]
    inputs: ClassVar[tuple[TensorSpec, ...]] = (TEXT,)

    @abstractmethod
    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """The pipeline's outputs for an encoder with `width` columns (labels, or the embedding's dimension)."""

    @abstractmethod
    def encoder_output(self, width: int) -> TensorSpec:
        """What the encoder gives for one row: one line of `width` columns for each window, or for each token."""

    @abstractmethod
    def decoder(self, labels: Labels) -> Decoder:
        """Build the decoder for a release's labels.

        Raises:
            ValueError: the labels do not fit the task.
        """
