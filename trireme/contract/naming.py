"""Which names a new pipeline may have: none that another model of the repository has, or will have one day."""

import re
from pathlib import Path

from trireme.contract.families import Step, all_layouts
from trireme.contract.pipelines import require_spelling
from trireme.contract.repository import CONFIG_NAME, Repository
from trireme.errors import NameRefusedError

_SIDE = re.compile(r".+_v\d+")


def require_free_name(root: Path, pipeline: str) -> None:
    """Refuse a name under which an export would write into what is not its own.

    Raises:
        NameRefusedError: it is misspelt, has the form of a step's or a staged release's name, or a model that is no
            pipeline has it, or has the name of one of its steps.
    """
    require_spelling(pipeline)
    if step := step_named(pipeline):
        raise NameRefusedError(pipeline, f"a pipeline's own steps end in '_{step.value}'")
    if names_side(pipeline):
        raise NameRefusedError(pipeline, "a staged release is asked under such a name, as in 'sentiment_v2'")
    if foreign := _foreign_model(Repository(root), pipeline):
        raise NameRefusedError(pipeline, f"{root / foreign} is a model that Trireme did not write")


def step_named(model: str) -> Step | None:
    """The step whose form of name a model has, None where it has none's; no pipeline has one."""
    return next((step for step in _steps() if model.endswith(f"_{step.value}")), None)


def names_side(model: str) -> bool:
    """Whether a name has the form of a canary's side, as in `sentiment_v2`; no pipeline has one."""
    return bool(_SIDE.fullmatch(model))


def _foreign_model(repository: Repository, pipeline: str) -> str:
    """A model that an export under this name would mix with; an export that was killed left a tokenizer of ours."""
    models = [pipeline, *(step.model_name(pipeline) for step in _steps())]
    there = [model for model in models if (repository.root / model / CONFIG_NAME).exists()]
    first_steps = {layout.models[0].backend for layout in all_layouts()}
    is_ours = {repository.config(model).backend for model in there} & first_steps
    return "" if is_ours or not there else there[0]


def _steps() -> list[Step]:
    """Every step that a pipeline of any family may have."""
    return list(dict.fromkeys(step for layout in all_layouts() for step in layout.steps))
