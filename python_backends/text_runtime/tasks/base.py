"""What a task is: the outputs a pipeline promises, and the decoder that turns the encoder's tensors into them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from text_runtime.tensors import TEXT, DataType, TensorSpec

Tensors = Mapping[str, np.ndarray[Any, Any]]
"""The tensors of one request by name, each with the request's rows as its first dimension."""

Encode = Callable[[Tensors], Tensors]
"""Sends a pipeline's inputs through its tokenizer and encoder again; gives what the postprocess step would get."""


class Decoder(Protocol):
    """Turns what the encoder gave into what the pipeline promises, for all requests of one execution."""

    def __call__(self, requests: Sequence[Tensors]) -> list[Tensors]:
        """Decode every request; the answers stand in the order of the requests."""


AGGREGATIONS = ("first", "mean", "token")
_CHOICES = {"activation": ("softmax", "sigmoid", "identity"), "aggregation": AGGREGATIONS}


@dataclass(frozen=True)
class Labels:
    """The words for the encoder's output columns, and how a release turns columns into an answer.

    `thresholds` has one number a label (multi-label-classification), `aggregation` says how a word's pieces become one
    tag (token-classification), `is_normalized` whether vectors have length 1 (embedding).
    """

    names: tuple[str, ...]
    activation: str = "softmax"
    thresholds: tuple[float, ...] = ()
    aggregation: str = "first"
    is_normalized: bool = True

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"labels {self.names} hold one name twice")
        for field, choices in _CHOICES.items():
            if getattr(self, field) not in choices:
                raise ValueError(f"{field} {getattr(self, field)!r} is not one of: {', '.join(choices)}")
        if len(self.thresholds) not in (0, len(self.names)):
            raise ValueError(f"{len(self.thresholds)} thresholds for {len(self.names)} labels")
        if not all(0.0 <= threshold <= 1.0 for threshold in self.thresholds):
            raise ValueError("a threshold is a number from 0 to 1")


class Task(ABC):
    """A registered task. Its contract is data; only `decoder` does work, and only inside the postprocess step."""

    name: ClassVar[str]
    inputs: ClassVar[tuple[TensorSpec, ...]] = (TEXT,)
    postprocess_inputs: ClassVar[tuple[TensorSpec, ...]] = ()
    """What the postprocess step gets beside the encoder's output: the pipeline's inputs, or the tokenizer's facts."""
    is_per_token: ClassVar[bool] = False
    """Whether the encoder gives a line for each token, rather than one for each window."""
    has_labels: ClassVar[bool] = True
    """Whether the encoder's columns have names."""

    @abstractmethod
    def outputs(self, width: int) -> tuple[TensorSpec, ...]:
        """The pipeline's outputs for an encoder with `width` columns (labels, or the embedding's dimension)."""

    def encoder_output(self, width: int) -> TensorSpec:
        """What the encoder gives for one row: one line of `width` columns for each window, or for each token.

        Most heads give `logits` FP32 [windows or tokens, width].
        """
        return TensorSpec("logits", DataType.FP32, (-1, width))

    @abstractmethod
    def decoder(self, labels: Labels, encode: Encode) -> Decoder:
        """Build the decoder for a release's labels; `encode` is for tasks that must look at a text again.

        Raises:
            ValueError: the labels do not fit the task.
        """
