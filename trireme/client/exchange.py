"""What passes between a client and a transport: a call's terms, one request of it, and the reply."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.tasks import Columns, Outputs
from trireme.contract.pipelines import MAX_BATCH_SIZE, task_of

__all__ = ["Call", "Columns", "Outputs", "Reply", "Request", "Signature", "Tensors", "joined", "requests_of"]

Tensors = Mapping[str, npt.NDArray[Any]]
"""Outputs by name, each with the rows as its first dimension."""

_SHORTEST_S = 0.001  # a deadline that has just passed: the transport tells, as for any other


@dataclass(frozen=True)
class Call:
    """The terms of one call: all of its requests and retries share the time.

    `key` makes a canary's choice stick. `prompt` names the prompt of the release that stands in front of every text.
    """

    pipeline: str
    timeout_s: float
    key: str | None = None
    prompt: str | None = None
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.timeout_s <= 0:
            raise ValueError(f"timeout_s {self.timeout_s} is not positive")

    @property
    def remaining_s(self) -> float:
        """Seconds that are left, never quite none."""
        return max(self.started + self.timeout_s - time.monotonic(), _SHORTEST_S)

    @property
    def parameters(self) -> dict[str, str] | None:
        """Triton's request parameters."""
        named = {"key": self.key, "prompt_name": self.prompt}
        return {name: value for name, value in named.items() if value is not None} or None


@dataclass(frozen=True)
class Request:
    """One request of a call: rows from `first_row` of what the call was given."""

    call: Call
    columns: Columns
    first_row: int = 0


@dataclass(frozen=True)
class Reply:
    """The answer to one request, and the release that gave it; None where a canary's router does not say."""

    outputs: Tensors
    release: int | None

    @property
    def rows(self) -> int:
        """How many texts were answered."""
        return len(next(iter(self.outputs.values())))

    @property
    def whole(self) -> Outputs:
        """The reply as a task decodes it."""
        return Outputs(self.outputs, (self.release,) * self.rows)


@dataclass(frozen=True)
class Signature:
    """What a served pipeline takes and gives: names, and for each output its numpy type and the shape of one row."""

    inputs: tuple[str, ...]
    outputs: Mapping[str, tuple[type[np.generic], tuple[int, ...]]]

    @property
    def task_name(self) -> str | None:
        """The task whose contract this is; None for a model that is no pipeline."""
        return task_of(self.inputs, self.outputs)


def requests_of(call: Call, columns: Columns) -> Iterator[Request]:
    """Cut a call into requests of the pipeline's batch size, in order.

    Raises:
        ValueError: the columns are not of one length.
    """
    rows = {name: len(texts) for name, texts in columns.items()}
    if len(set(rows.values())) > 1:
        raise ValueError(f"inputs of different lengths: {', '.join(f'{n} {name}' for name, n in rows.items())}")
    for start in range(0, max(rows.values(), default=0), MAX_BATCH_SIZE):
        yield Request(call, {name: texts[start : start + MAX_BATCH_SIZE] for name, texts in columns.items()}, start)


def joined(replies: Sequence[Reply], signature: Signature) -> Outputs:
    """The replies to a call's requests as one, outputs in the contract's order, which a reply does not keep."""
    empty = {name: np.empty((0, *shape), kind) for name, (kind, shape) in signature.outputs.items()}
    tensors = {
        name: np.concatenate([none, *(reply.outputs[name] for reply in replies)]) for name, none in empty.items()
    }
    return Outputs(tensors, tuple(reply.release for reply in replies for _ in range(reply.rows)))
