"""What a user asks an export for, grouped by who reads it. A spec file holds the same; see `converters.schema`."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta, field
from msgspec.structs import force_setattr

from converters.evaluation import EvaluationSpec
from converters.precisions import Choice, PrecisionError, choose, is_calibrated
from converters.schema import Schema
from converters.sources import SourceOptions
from converters.targets import USUAL_ENGINES, TargetSpec, graph_engine
from text_runtime.tasks import task, task_names
from text_runtime.tensors import TEXT_PAIR
from trireme.errors import UnsupportedError

LONG_TEXTS = ("truncate", "window")
_WORDS = {"options": "source", "is_normalized": "normalize", "instances": "joined"}


class EncoderSpec(Schema, frozen=True):
    """What runs the encoder, and where. Without an `engine` it is the target's usual one, with `method` None the
    precision's; `calibration` is a file of real texts."""

    engine: str = ""
    precision: str = "fp32"
    method: str | None = None
    calibration: Path | None = None
    target: str = "cpu"

    def __post_init__(self) -> None:
        if not self.engine:
            force_setattr(self, "engine", USUAL_ENGINES.get(self.target, ""))
        if is_calibrated(self.choice) and self.calibration is None:
            remedy = "give --calibration FILE with a few hundred real texts, one a line"
            raise PrecisionError(str(self.choice), "it reads the ranges of activations off real texts", remedy)

    @property
    def choice(self) -> Choice:
        """The registered precision that this names."""
        return choose(graph_engine(self.target, self.engine, self.precision), self.precision, self.method)


class PruningSpec(Schema, frozen=True):
    """How small to make the encoder: the share of heads and neurons to keep, and the epochs of recovery after it."""

    share: float
    recover_epochs: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise UnsupportedError("--prune", str(self.share), ["a share between 0 and 1, such as 0.75"])
        if self.recover_epochs < 0:
            raise UnsupportedError("--recover-epochs", str(self.recover_epochs), ["0 or more"])


class ExportSpec(
    Schema, frozen=True, rename={"options": "source", "is_normalized": "normalize", "instances": "joined"}
):
    """What to export, as what, and where to. `max_length` counts tokens; None takes the model's own limit.

    `instances` above 0 join the steps in one model that runs in so many processes. A file has the command line's words
    for three fields: `source`, `normalize`, `joined`.
    """

    checkpoint: Path
    task: str
    name: str
    repository: Path = Path("model_repository")
    encoder: EncoderSpec = field(default_factory=EncoderSpec)
    evaluation: EvaluationSpec | None = None
    pruning: PruningSpec | None = None
    options: SourceOptions = field(default_factory=SourceOptions)
    max_length: Annotated[int, Meta(ge=1)] | None = None
    long_text: str = "truncate"
    labels: Path | None = None
    is_normalized: bool | None = None
    corpus: Path | None = None
    instances: Annotated[int, Meta(ge=0, le=64)] = 0

    def __post_init__(self) -> None:
        if self.task not in task_names():
            raise UnsupportedError("task", self.task, task_names())
        if self.long_text not in LONG_TEXTS:
            raise UnsupportedError("--long-text", self.long_text, list(LONG_TEXTS))
        if self.long_text == "window" and TEXT_PAIR in task(self.task).inputs:
            raise UnsupportedError(f"--long-text of {self.task}", self.long_text, ["truncate"])
        self.for_target.require_servable()
        if self.pruning and not self.encoder.calibration:
            remedy = "give --calibration FILE with real texts, one a line"
            raise PrecisionError("--prune", "it measures on real texts what each head and neuron counts for", remedy)

    @property
    def for_target(self) -> TargetSpec:
        """What depends on where the release is to be served."""
        encoder = self.encoder
        return TargetSpec(encoder.target, encoder.engine, encoder.precision, self.task, self.long_text, self.instances)


class TrialSpec(ExportSpec, frozen=True, kw_only=True):
    """An export for comparisons alone: what its gates refuse by their figures is recorded, and still written.

    In the folder `lessons` the trials of one comparison share what a pruned model has learnt.
    """

    lessons: Path
