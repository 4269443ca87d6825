"""Which plan to build, and with what."""

from dataclasses import dataclass
from pathlib import Path

from trireme.contract.pipelines import Step
from trireme.contract.repository import Repository
from trireme.errors import PlanError


@dataclass(frozen=True)
class PlanSpec:
    """Which release to build a plan for, and how. `timings` is a file that makes the next build shorter."""

    repository: Path
    pipeline: str
    release: int
    timings: Path
    workspace_gib: float = 4.0
    corpus: Path | None = None

    def __post_init__(self) -> None:
        if self.workspace_gib <= 0:
            raise ValueError(f"workspace_gib {self.workspace_gib} leaves TensorRT no memory to try kernels in")

    @property
    def folder(self) -> Path:
        """The release's encoder folder, which holds the graph and will hold the plan."""
        return Repository(self.repository).step_folder(self.pipeline, Step.ENCODER) / str(self.release)

    def refusal(self, problem: str, remedy: str) -> PlanError:
        """An error about this plan."""
        return PlanError(self.pipeline, self.release, problem, remedy)
