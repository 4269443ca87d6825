"""What a user asks an export for, grouped by who reads it."""

from dataclasses import dataclass, field
from pathlib import Path

from converters.evaluation import EvaluationSpec
from converters.precisions import Choice, PrecisionError, choose, is_calibrated
from converters.sources import SourceOptions
from converters.targets import TargetSpec, graph_engine
from text_runtime.tasks import task, task_names
from text_runtime.tensors import TEXT_PAIR
from trireme.errors import UnsupportedError

_LONG_TEXTS = ("truncate", "window")


@dataclass(frozen=True)
class EncoderSpec:
    """What runs the encoder, and where. `method` None takes the usual one; `calibration` is a file of real texts."""

    engine: str = "onnxruntime"
    precision: str = "fp32"
    method: str | None = None
    calibration: Path | None = None
    target: str = "cpu"

    def __post_init__(self) -> None:
        if is_calibrated(self.choice) and self.calibration is None:
            remedy = "give --calibration FILE with a few hundred real texts, one a line"
            raise PrecisionError(str(self.choice), "it reads the ranges of activations off real texts", remedy)

    @property
    def choice(self) -> Choice:
        """The registered precision that this names."""
        return choose(graph_engine(self.target, self.engine, self.precision), self.precision, self.method)


@dataclass(frozen=True)
class PruningSpec:
    """How small to make the encoder: the share of heads and neurons to keep, and the epochs of recovery after it."""

    share: float
    recover_epochs: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise UnsupportedError("--prune", str(self.share), ["a share between 0 and 1, such as 0.75"])
        if self.recover_epochs < 0:
            raise UnsupportedError("--recover-epochs", str(self.recover_epochs), ["0 or more"])


@dataclass(frozen=True)
class ExportSpec:
    """What to export, as what, and where to. `max_length` counts tokens; None takes the model's own limit.

    A trial is for comparisons alone: what its gates refuse by their figures is recorded, and still written. In the
    folder `lessons` the trials of one comparison share what a pruned model has learnt. `instances` above 0 join the
    steps in one model that runs in so many processes.
    """

    checkpoint: Path
    task: str
    name: str
    repository: Path
    encoder: EncoderSpec = field(default_factory=EncoderSpec)
    evaluation: EvaluationSpec | None = None
    pruning: PruningSpec | None = None
    options: SourceOptions = field(default_factory=SourceOptions)
    max_length: int | None = None
    long_text: str = "truncate"
    labels: Path | None = None
    is_normalized: bool | None = None
    corpus: Path | None = None
    is_trial: bool = False
    lessons: Path | None = None
    instances: int = 0

    def __post_init__(self) -> None:
        if self.task not in task_names():
            raise UnsupportedError("task", self.task, task_names())
        if self.long_text not in _LONG_TEXTS:
            raise UnsupportedError("--long-text", self.long_text, list(_LONG_TEXTS))
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
