"""A pipeline's contract as data: its task, its width, its steps, and the tensors that run between them."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from text_runtime.tasks import Task, task, task_names
from text_runtime.tensors import (
    ATTENTION_MASK,
    DEADLINE,
    INPUT_IDS,
    LENGTHS,
    SCHEMA,
    TEXT_PAIR,
    TOKEN_TYPE_IDS,
    TRUNCATED_CHARS,
    TensorSpec,
)
from trireme.errors import NameRefusedError, UnsupportedError

MAX_BATCH_SIZE = 64
GPU_ENGINES = ("tensorrt", "onnxruntime")
_GRAPH_INPUTS = {tensor.name: tensor for tensor in (INPUT_IDS, TOKEN_TYPE_IDS, ATTENTION_MASK)}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_LONG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{64,}")


class Step(Enum):
    """A model that a pipeline's ensemble calls: three in a row, or one that does the work of all three."""

    TOKENIZER = "tokenizer"
    ENCODER = "encoder"
    POSTPROCESS = "postprocess"
    JOINED = "joined"

    def model_name(self, pipeline: str) -> str:
        """The Triton model that is this step of a pipeline: `sentiment_tokenizer`."""
        return f"{pipeline}_{self.value}"


CHAIN = (Step.TOKENIZER, Step.ENCODER, Step.POSTPROCESS)
"""The three steps in the order in which a text passes them."""


def doer(step: Step, steps: Collection[Step]) -> Step:
    """The one of a pipeline's `steps` that does a step's work."""
    return step if step in steps else Step.JOINED


def require_spelling(pipeline: str) -> None:
    """Refuse a name that Triton, a shell or a URL would take for something else.

    Raises:
        NameRefusedError: it is not a letter, then up to 63 letters, digits, '_' or '-'.
    """
    if not _NAME.fullmatch(pipeline):
        raise NameRefusedError(pipeline, "it is too long" if _LONG_NAME.fullmatch(pipeline) else "it is not spelt so")


@dataclass(frozen=True)
class GpuLayout:
    """What is fixed of a pipeline whose encoder runs in Triton's own backend on a GPU and takes equal shapes only.

    `engine` is `tensorrt` (a plan) or `onnxruntime` (with the TensorRT accelerator), `buckets` are the lengths to which
    the tokenizer pads, ascending, and `graph_inputs` the graph's own, all of which the tokenizer has to give.
    `precision` is what the accelerator computes in; a plan has its own from its graph.
    """

    engine: str
    buckets: tuple[int, ...]
    graph_inputs: tuple[str, ...]
    precision: str = "fp16"

    def __post_init__(self) -> None:
        if self.engine not in GPU_ENGINES:
            raise UnsupportedError("engine of target gpu", self.engine, list(GPU_ENGINES))
        foreign = sorted(set(self.graph_inputs) - set(_GRAPH_INPUTS))
        if foreign:
            raise UnsupportedError("graph input", foreign[0], list(_GRAPH_INPUTS))


@dataclass(frozen=True)
class Contract:
    """What a pipeline promises, whichever release serves it.

    `width` is the number of the encoder's output columns: labels, or the embedding's dimension. Without a `gpu` layout
    the encoder is our own backend on CPU, which takes ragged rows. `instances` above 0 join the steps in one model that
    runs in so many processes.
    """

    pipeline: str
    task_name: str
    width: int
    gpu: GpuLayout | None = None
    instances: int = 0

    def __post_init__(self) -> None:
        require_spelling(self.pipeline)
        if self.task_name not in task_names():
            raise UnsupportedError("task", self.task_name, task_names())
        if self.width < 1:
            raise ValueError(f"width {self.width}: an encoder has at least one output column")
        if self.instances < 0:
            raise ValueError(f"{self.instances} instances: give 1 or more, or 0 for separate steps")

    @property
    def task(self) -> Task[Any]:
        """The task behind the name."""
        return task(self.task_name)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The models that the ensemble calls, in their order."""
        return (Step.JOINED,) if self.instances else CHAIN

    def model_of(self, step: Step) -> str:
        """The model that does a step's work."""
        return doer(step, self.steps).model_name(self.pipeline)

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The pipeline's inputs."""
        return self.task.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """The pipeline's outputs: the task's, and how much of a long text was left unread."""
        return (*self.task.outputs(self.width), TRUNCATED_CHARS)

    @property
    def encoder_inputs(self) -> tuple[TensorSpec, ...]:
        """What runs from the tokenizer to the encoder.

        Our own backend gets token types only where a row can have two of them, lengths, from which it makes what the
        graph wants, and the deadline; Triton's get what the graph wants.
        """
        if self.gpu:
            return tuple(_GRAPH_INPUTS[name] for name in self.gpu.graph_inputs)
        pair = (TOKEN_TYPE_IDS,) if {TEXT_PAIR, SCHEMA} & set(self.inputs) else ()
        return (INPUT_IDS, *pair, LENGTHS, DEADLINE)

    @property
    def encoder_output(self) -> TensorSpec:
        """What runs from the encoder to the postprocess step; a row of the GPU layout has one window."""
        output = self.task.encoder_output(self.width)
        return replace(output, dims=(1, self.width)) if self.gpu and not self.task.is_per_token else output

    @property
    def tokenizer_outputs(self) -> tuple[TensorSpec, ...]:
        """What the tokenizer gives: the encoder's inputs, and what the postprocess step wants to know of the text."""
        facts = tuple(tensor for tensor in self.task.postprocess_inputs if tensor not in self.inputs)
        return (*self.encoder_inputs, *facts, TRUNCATED_CHARS)

    @property
    def postprocess_inputs(self) -> tuple[TensorSpec, ...]:
        """What the postprocess step gets: the encoder's output, and the task's own wishes."""
        return (self.encoder_output, *self.task.postprocess_inputs)


def task_of(inputs: Collection[str], outputs: Collection[str]) -> str | None:
    """The task of a served pipeline, told from the names of its tensors; None where no task has these."""
    for name in task_names():
        contract = Contract("any", name, 1)
        takes, gives = ({tensor.name for tensor in tensors} for tensors in (contract.inputs, contract.outputs))
        if takes == set(inputs) and gives == set(outputs):
            return name
    return None
