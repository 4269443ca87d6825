"""A pipeline's contract as data: its family, its task, its width, and the tensors that run between its steps."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from text_runtime.generation import tensors as generation_tensors
from text_runtime.tasks import Task, task, task_names, text_generation
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
from trireme.contract.families import CHAIN, ENCODER, GENERATION, Family, Identity, Step, StepLayout
from trireme.errors import NameRefusedError, UnsupportedError

__all__ = [
    "CHAIN",
    "GPU_ENGINES",
    "MAX_BATCH_SIZE",
    "Contract",
    "GENERATION_TASK",
    "GenerationContract",
    "GpuLayout",
    "PipelineContract",
    "Step",
    "require_spelling",
    "task_of",
]

MAX_BATCH_SIZE = ENCODER.max_batch_size
GPU_ENGINES = ("tensorrt", "onnxruntime")
GENERATION_TASK = text_generation.NAME
"""The generation family's one task."""
_GRAPH_INPUTS = {tensor.name: tensor for tensor in (INPUT_IDS, TOKEN_TYPE_IDS, ATTENTION_MASK)}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_LONG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{64,}")


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
class PipelineContract(ABC):
    """What a pipeline of any family promises, whichever release serves it."""

    pipeline: str
    task_name: str
    family: ClassVar[Family]

    @property
    @abstractmethod
    def layout(self) -> StepLayout:
        """How its steps are cut into models."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The pipeline's inputs."""

    @property
    @abstractmethod
    def outputs(self) -> tuple[TensorSpec, ...]:
        """The pipeline's outputs."""

    @property
    def identity(self) -> Identity:
        """What its config and manifests say it is."""
        return Identity(self.family.name, self.task_name)

    @property
    def processes(self) -> int:
        """In how many processes each of its models runs."""
        return 1

    @property
    def steps(self) -> tuple[Step, ...]:
        """The models that the ensemble calls, in their order."""
        return self.layout.steps

    def model_of(self, step: Step) -> str:
        """The model that does a step's work."""
        return self.layout.executor(step).model_name(self.pipeline)


@dataclass(frozen=True)
class Contract(PipelineContract):
    """What a pipeline of the encoder family promises, whichever release serves it.

    `width` is the number of the encoder's output columns: labels, or the embedding's dimension. Without a `gpu` layout
    the encoder is our own backend on CPU, which takes ragged rows. `instances` above 0 join the steps in one model that
    runs in so many processes.
    """

    width: int
    gpu: GpuLayout | None = None
    instances: int = 0
    family = ENCODER

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
    def layout(self) -> StepLayout:
        """See the base class."""
        return self.family.layout("joined" if self.instances else "chain")

    @property
    def processes(self) -> int:
        """See the base class."""
        return self.instances or 1

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


@dataclass(frozen=True)
class GenerationContract(PipelineContract):
    """What a pipeline that writes promises, whichever release serves it."""

    task_name: str = GENERATION_TASK
    family = GENERATION
    layout = GENERATION.layouts[0]
    inputs = generation_tensors.INPUTS
    outputs = generation_tensors.OUTPUTS

    def __post_init__(self) -> None:
        require_spelling(self.pipeline)
        if self.task_name != GENERATION_TASK:
            raise UnsupportedError("task of the generation family", self.task_name, [GENERATION_TASK])


def task_of(inputs: Collection[str], outputs: Collection[str]) -> str | None:
    """The task of a pipeline that says none, told from the names of its tensors; None where no task has these.

    A server may be newer, and give outputs that were added to the task: the task is the one that explains the most.
    """
    if generation_tensors.TEXT_INPUT.name in inputs and generation_tensors.TEXT_OUTPUT.name in outputs:
        return GENERATION_TASK
    found: dict[str, int] = {}
    for name in task_names():
        contract = Contract("any", name, 1)
        takes, gives = ({tensor.name for tensor in tensors} for tensors in (contract.inputs, contract.outputs))
        if takes == set(inputs) and gives <= set(outputs):
            found[name] = len(gives)
    return max(found, key=lambda name: found[name], default=None)
