"""The versions that an ensemble pins its steps to."""

from collections.abc import Iterator

from trireme.serving.check.model import OUR_STEPS, Model, Models
from trireme.serving.finding import Finding

_ANY = -1  # `model_version: -1` takes the latest


def exist(model: Model, models: Models) -> Iterator[Finding]:
    """A pinned version is on disk, and the step's policy loads it."""
    for step, version in _pinned(model, models):
        if version not in step.versions:
            known = ", ".join(map(str, step.versions))
            said = f"pins '{step.name}' to version {version}" if version else f"gives no model_version to '{step.name}'"
            yield model.error(
                f"{said}, and version {version} is not on disk", f"pin one of {known}, or -1 for the latest"
            )
        elif version not in step.loaded():
            remedy = f"write version_policy {{ specific {{ versions: [{version}] }} }} into {step.name}/config.pbtxt"
            yield model.error(
                f"pins '{step.name}' to version {version}, which its version_policy does not load", remedy
            )


def stay(model: Model, models: Models) -> Iterator[Finding]:
    """A pinned version is not one that the next version pushes out."""
    for step, version in _pinned(model, models):
        policy = step.config.version_policy
        if version in step.loaded() and not policy.HasField("specific") and not policy.HasField("all"):
            problem = f"pins '{step.name}' to version {version}, which the next version unloads: its policy is 'latest'"
            remedy = f"write version_policy {{ specific {{ versions: [{version}] }} }} into {step.name}/config.pbtxt"
            yield model.warning(problem, remedy)


def agree(model: Model, models: Models) -> Iterator[Finding]:
    """The steps of a pipeline are pinned to one release: they were built and judged together."""
    steps = model.config.ensemble_scheduling.step
    backends = {models[step.model_name].backend for step in steps if step.model_name in models}
    versions = sorted({step.model_version for step in steps})
    if backends & set(OUR_STEPS) and (len(versions) > 1 or versions == [_ANY]):
        remedy = "pin them to one release: `trireme promote`"
        yield model.error(f"pins its steps to {versions}, not to one release", remedy)


def _pinned(model: Model, models: Models) -> Iterator[tuple[Model, int]]:
    """Every step that is pinned, where its model has versions to choose from."""
    for step in model.config.ensemble_scheduling.step:
        found = models.get(step.model_name)
        if found is not None and not found.fault and found.loaded() and step.model_version != _ANY:
            yield found, step.model_version
