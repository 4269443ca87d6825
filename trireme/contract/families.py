"""What a kind of pipeline is made of, as data: its steps, the models that do their work, and the files that they read.

Everything that handles pipelines in general (rendering configs, publishing, finding pipelines on disk, promotion) goes
by these declarations, so that a family stands beside another one without a change there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from text_runtime.generation.files import SPECIAL_TOKENS_NAME, TEMPLATE_NAME, TOKENIZER_NAME
from text_runtime.generation.tensors import ISSUED_TICKET, TICKET
from text_runtime.manifest import ENCODER_FAMILY, GENERATION_FAMILY, Manifest
from text_runtime.tensors import TensorSpec
from trireme.errors import UnsupportedError

TensorsOf = Callable[[Any], tuple[TensorSpec, ...]]
"""Which tensors a model takes or gives, told from the contract of its pipeline."""


@dataclass(frozen=True)
class Step:
    """A part of a pipeline's work, by its name; also the model that does it, or that does the work of several."""

    value: str
    TOKENIZER: ClassVar["Step"]
    ENCODER: ClassVar["Step"]
    POSTPROCESS: ClassVar["Step"]
    JOINED: ClassVar["Step"]
    GENERATOR: ClassVar["Step"]

    def model_name(self, pipeline: str) -> str:
        """The Triton model that is this step of a pipeline: `sentiment_tokenizer`."""
        return f"{pipeline}_{self.value}"


Step.TOKENIZER = Step("tokenizer")
Step.ENCODER = Step("encoder")
Step.POSTPROCESS = Step("postprocess")
Step.JOINED = Step("joined")
Step.GENERATOR = Step("generator")

CHAIN = (Step.TOKENIZER, Step.ENCODER, Step.POSTPROCESS)
"""The encoder family's three steps in the order in which a text passes them."""


@dataclass(frozen=True)
class Identity:
    """What a pipeline says it is; the task is None where it says none and its tensors are those of no task."""

    family: str
    task: str | None

    def __str__(self) -> str:
        return f"{self.task} of the {self.family} family"


@dataclass(frozen=True)
class Call:
    """One call of a model by the ensemble: what it takes and gives, each under its name in the ensemble."""

    inputs: dict[str, TensorSpec]
    outputs: dict[str, TensorSpec]


def _single_call(model: "StepModel", contract: Any) -> tuple[Call, ...]:
    named = ({tensor.name: tensor for tensor in tensors(contract)} for tensors in (model.inputs, model.outputs))
    return (Call(*named),)


@dataclass(frozen=True)
class StepModel:
    """A model that a pipeline's ensemble calls: the backend that runs it, and its tensors.

    One that `is_decoupled` answers a request with as many responses as it likes, and batches for itself. `calls` says
    which calls the ensemble makes of it; usually one with all of its tensors.
    """

    step: Step
    backend: str
    inputs: TensorsOf
    outputs: TensorsOf
    is_decoupled: bool = False
    calls: Callable[["StepModel", Any], tuple[Call, ...]] = _single_call


@dataclass(frozen=True)
class StepLayout:
    """One way to cut a family's steps into models."""

    name: str
    models: tuple[StepModel, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The models, in the order in which the ensemble calls them."""
        return tuple(model.step for model in self.models)

    def executor(self, step: Step) -> Step:
        """The one that does a step's work: its own model, or the one that joins all steps."""
        return step if step in self.steps else self.steps[0]

    def model(self, step: Step) -> StepModel:
        """What is declared of a model."""
        return next(model for model in self.models if model.step == step)


@dataclass(frozen=True)
class Family:
    """A kind of pipeline.

    `layouts` begins with the one that has a model for each step; the models of the others are told by their backends.
    `files` are the ones that a step's folder of a release must hold beside the manifest.
    """

    name: str
    layouts: tuple[StepLayout, ...]
    files: dict[Step, Callable[[Manifest], tuple[str, ...]]]
    max_batch_size: int

    @property
    def steps(self) -> tuple[Step, ...]:
        """The parts of its work, in their order."""
        return self.layouts[0].steps

    @property
    def is_decoupled(self) -> bool:
        """Whether a request may have more responses than one."""
        return any(model.is_decoupled for layout in self.layouts for model in layout.models)

    def layout(self, name: str) -> StepLayout:
        """A layout by its name."""
        return next(layout for layout in self.layouts if layout.name == name)


_CHAIN = StepLayout(
    "chain",
    (
        StepModel(Step.TOKENIZER, "text_tokenizer", lambda of: of.inputs, lambda of: of.tokenizer_outputs),
        StepModel(Step.ENCODER, "text_encoder", lambda of: of.encoder_inputs, lambda of: (of.encoder_output,)),
        StepModel(
            Step.POSTPROCESS,
            "text_postprocess",
            lambda of: of.postprocess_inputs,
            lambda of: of.task.outputs(of.width),
        ),
    ),
)
_JOINED = StepLayout("joined", (StepModel(Step.JOINED, "text_joined", lambda of: of.inputs, lambda of: of.outputs),))
ENCODER = Family(
    ENCODER_FAMILY,
    (_CHAIN, _JOINED),
    files={
        Step.TOKENIZER: lambda manifest: ("tokenizer.json",),
        Step.ENCODER: lambda manifest: (manifest.network.model,),
        Step.POSTPROCESS: lambda manifest: ("labels.json",),
    },
    max_batch_size=64,
)
"""A text goes in, the network runs once, and one answer comes out."""


def _admit_and_write(model: StepModel, contract: Any) -> tuple[Call, Call]:
    """The first call takes the request and gives a ticket, the second takes the ticket and gives the answer.

    A call that the ensemble begins hears of a cancellation and one under way does not. So the first call repeats its
    ticket while the second writes, and each time the model is called again and can look.
    """
    admit = Call({tensor.name: tensor for tensor in contract.inputs}, {TICKET.name: ISSUED_TICKET})
    return admit, Call({TICKET.name: TICKET}, {tensor.name: tensor for tensor in contract.outputs})


_STREAM = StepLayout(
    "stream",
    (
        StepModel(
            Step.GENERATOR,
            "text_generator",
            lambda of: (*of.inputs, TICKET),
            lambda of: (*of.outputs, ISSUED_TICKET),
            is_decoupled=True,
            calls=_admit_and_write,
        ),
    ),
)
GENERATION = Family(
    GENERATION_FAMILY,
    (_STREAM,),
    files={
        Step.GENERATOR: lambda manifest: (
            manifest.network.model,
            TOKENIZER_NAME,
            TEMPLATE_NAME,
            SPECIAL_TOKENS_NAME,
        )
    },
    max_batch_size=0,
)
"""A prompt goes in, and an answer comes out piece by piece as it is written."""

FAMILIES = {family.name: family for family in (ENCODER, GENERATION)}


def all_layouts() -> list[StepLayout]:
    """The layouts of all families."""
    return [layout for family in FAMILIES.values() for layout in family.layouts]


def family_named(name: str) -> Family:
    """The declared family of that name.

    Raises:
        UnsupportedError: this version of Trireme has none of that name.
    """
    if name not in FAMILIES:
        raise UnsupportedError("family", name, list(FAMILIES))
    return FAMILIES[name]
