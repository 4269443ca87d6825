"""TensorRT plans of releases, beside the machine that looks at them."""

from collections.abc import Iterator
from pathlib import Path

from text_runtime.machine import Machine, MachineError, read_machine
from text_runtime.plan import PLAN_NAME, needs_plan, plan_problems, read_plan_facts, rebuild_command
from trireme.serving.check.model import Model, Models
from trireme.serving.check.release_folders import releases_of
from trireme.serving.finding import Finding


def fit(model: Model, models: Models) -> Iterator[Finding]:
    """A plan is there, is the one that was built, of the release's graph, and for this machine's card.

    A machine without a card serves no plan: there it is only held against what it says of itself.
    """
    if model.backend != "tensorrt":
        return
    for folder, manifest in releases_of(model):
        if needs_plan(manifest) and folder in model.loaded().values():
            remedy = f"build it on the machine that serves it: `{rebuild_command(manifest.pipeline, manifest.release)}`"
            for problem in plan_problems(folder, manifest, _machine(folder), model.config.max_batch_size):
                yield model.error(problem, remedy, folder / PLAN_NAME)


def _machine(folder: Path) -> Machine:
    try:
        return read_machine()
    except MachineError:
        return _builder(folder)


def _builder(folder: Path) -> Machine:
    try:
        return read_plan_facts(folder).machine
    except (ValueError, OSError):
        return Machine("", "", "", "")  # without facts nothing is compared with it
