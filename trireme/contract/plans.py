"""Whether a release's TensorRT plan may serve on this machine: what checks, entry points and builds agree on."""

from text_runtime.machine import Machine, MachineError, read_machine
from text_runtime.plan import needs_plan, plan_problems, rebuild_command
from trireme.contract.pipelines import MAX_BATCH_SIZE, Step
from trireme.contract.repository import Repository
from trireme.errors import PlanError

BUILD_WHERE_IT_SERVES = "build it in the serving image on the card that will serve it (docs/gpu.md)"


def plan_problems_of(repository: Repository, pipeline: str, release: int, machine: Machine | None = None) -> list[str]:
    """Everything that keeps this machine (or a given one) from serving a release from its plan.

    Nothing where it may, and for a release that is not served from a plan.

    Raises:
        RepositoryError: there is no such release.
    """
    manifest = repository.manifest(pipeline, release)
    if not needs_plan(manifest):
        return []
    folder = repository.step_folder(pipeline, Step.ENCODER) / str(release)
    try:
        return plan_problems(folder, manifest, machine or read_machine(), MAX_BATCH_SIZE)
    except MachineError as error:
        return [str(error)]


def require_plan(repository: Repository, pipeline: str, release: int, machine: Machine | None = None) -> None:
    """Refuse a release that this machine may not serve from its plan.

    Raises:
        PlanError: its plan is missing, changed, or of another machine, graph or layout; says how to rebuild it.
        RepositoryError: there is no such release.
    """
    problems = plan_problems_of(repository, pipeline, release, machine)
    if problems:
        remedy = f"rebuild it on the machine that serves it: `{rebuild_command(pipeline, release)}`"
        raise PlanError(pipeline, release, "; ".join(problems), remedy)
