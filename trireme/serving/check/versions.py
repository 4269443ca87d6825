"""The version folders of a model, and which of them its policy loads."""

from collections.abc import Iterator

from trireme.serving.check.model import Model, Models
from trireme.serving.finding import Finding


def exist(model: Model, models: Models) -> Iterator[Finding]:
    """There is a version at all. An ensemble needs one too, though it holds nothing, and git drops empty folders."""
    if not model.versions and not model.is_relocated:
        remedy = "make a folder such as '1', with the model in it"
        if model.is_ensemble:
            remedy = "make an empty folder '1', and put a .gitkeep into it: git drops empty folders"
        yield model.error("there is no version folder", remedy, ".")


def are_filled(model: Model, models: Models) -> Iterator[Finding]:
    """No version that would be loaded is empty, unless there is nothing to put into it.

    Triton 2.51 does not refuse a Python model without its file: the load hangs, and every load after it.
    """
    if not model.file_name:
        return
    for number, folder in model.loaded().items():
        if not any(folder.iterdir()):
            yield model.error(f"version {number} is empty, and would be loaded", "fill it or remove it", folder)


def follow_policy(model: Model, models: Models) -> Iterator[Finding]:
    """The policy names versions that are there, and at least one."""
    absent = [number for number in model.config.version_policy.specific.versions if number not in model.versions]
    known = ", ".join(map(str, model.versions)) or "none"
    remedy = f"name versions that are on disk: {known}"
    if model.versions and not model.loaded():
        yield model.error("version_policy loads no version", remedy)
    elif model.versions and absent:
        yield model.warning(f"version_policy names versions {absent}, which are not on disk", remedy)
