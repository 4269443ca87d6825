"""An ensemble and its steps: who gives which tensor to whom, and whether both mean the same by it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trireme.serving.check.model import Model, Models
from trireme.serving.check.shapes import are_compatible, full_dims, type_name
from trireme.serving.finding import Finding


@dataclass(frozen=True)
class _End:
    """Where a tensor of the ensemble comes from or goes to: one input or output of a model."""

    owner: Model
    name: str
    tensor: Any

    @property
    def is_known(self) -> bool:
        """Whether the config says its whole shape."""
        return bool(self.tensor.dims) and self.owner.has_batch_size

    def __str__(self) -> str:
        return f"'{self.name}' of {self.owner.name}"


def steps(model: Model, models: Models) -> Iterator[Finding]:
    """Every step is a model of this repository, and none leads back to the ensemble."""
    for name in dict.fromkeys(step.model_name for step in _steps(model)):
        if name not in models:
            remedy = f"put it into the repository, or name one of: {', '.join(sorted(models.keys() - {model.name}))}"
            yield model.error(f"step '{name}' is no model of this repository", remedy)
        elif model.name in _reached_from(name, models):
            yield model.error(f"step '{name}' leads back to the ensemble itself", "take it out")


def maps(model: Model, models: Models) -> Iterator[Finding]:
    """Every step gets all the inputs that it must have, and the maps name inputs and outputs that it has."""
    for step, found in _known_steps(model, models):
        what = f"step '{found.name}'"
        if not found.has_all_tensors:
            continue
        inputs = {tensor.name: tensor for tensor in found.config.input}
        outputs = {tensor.name for tensor in found.config.output}
        for name in sorted(set(step.input_map) - set(inputs)):
            yield model.error(f"{what} has no input '{name}'", f"map one of: {', '.join(sorted(inputs))}")
        for name in sorted(set(step.output_map) - outputs):
            yield model.error(f"{what} has no output '{name}'", f"map one of: {', '.join(sorted(outputs))}")
        for name, tensor in inputs.items():
            if name not in step.input_map and not tensor.optional:
                yield model.error(f"{what} is not given its input '{name}'", f"add it to the step's input_map: {name}")


def results(model: Model, models: Models) -> Iterator[Finding]:
    """Every step gives something."""
    for step, found in _known_steps(model, models):
        if not step.output_map:
            problem = f"step '{found.name}' gives nothing to the ensemble"
            yield model.error(problem, "map one of its outputs, or take the step out")


def chain(model: Model, models: Models) -> Iterator[Finding]:
    """Every tensor is made once and used, its steps can run one after the other, and both ends of it agree."""
    if not model.is_ensemble:
        return
    made = Counter([tensor.name for tensor in model.config.input])
    made.update(value for step in _steps(model) for value in step.output_map.values())
    used = {value for step in _steps(model) for value in step.input_map.values()}
    used |= {tensor.name for tensor in model.config.output}
    for name, count in made.items():
        if count > 1:
            yield model.error(f"tensor '{name}' is made {count} times", "give each its own name")
        if name not in used:
            yield model.error(f"tensor '{name}' is made and used by nobody", "take it out of the map, or use it")
    for name in sorted(used - made.keys()):
        yield model.error(f"tensor '{name}' is made by nobody", f"use one of: {', '.join(sorted(made))}")
    if used <= made.keys() and (stuck := _stuck(model)):
        yield model.error(f"steps {stuck} wait for each other's tensors", "break the circle")
    yield from _disagreements(model, models)


def batch_sizes(model: Model, models: Models) -> Iterator[Finding]:
    """No step takes fewer rows at once than the ensemble lets in."""
    limit = model.config.max_batch_size
    for _, found in _known_steps(model, models):
        if 0 < found.config.max_batch_size < limit:
            problem = f"max_batch_size is {limit}, and only {found.config.max_batch_size} in step '{found.name}'"
            yield model.error(problem, "let the ensemble take no more than its smallest step")


def _disagreements(model: Model, models: Models) -> Iterator[Finding]:
    sources, targets = _ends(model, models)
    for name, target in targets:
        source = sources.get(name)
        if source is None:
            continue
        ours, theirs = type_name(source.tensor), type_name(target.tensor)
        if ours != theirs and source.tensor.data_type and target.tensor.data_type:
            yield model.error(f"tensor '{name}': {source} is {ours}, {target} is {theirs}", "make them one type")
        given, taken = full_dims(source.owner, source.tensor), full_dims(target.owner, target.tensor)
        is_one = are_compatible(source.tensor.dims, target.tensor.dims) or are_compatible(given, taken)
        if source.is_known and target.is_known and not is_one:
            problem = f"tensor '{name}': {source} is {list(given)}, {target} is {list(taken)}, batch included"
            yield model.error(problem, "make dims and max_batch_size agree, or reshape in a step")


def _ends(model: Model, models: Models) -> tuple[dict[str, _End], list[tuple[str, _End]]]:
    """Where each tensor comes from, and all the places that it goes to."""
    sources = {tensor.name: _End(model, tensor.name, tensor) for tensor in model.config.input}
    targets = []
    for step, found in _known_steps(model, models):
        for tensor in found.config.output:
            if tensor.name in step.output_map:
                sources[step.output_map[tensor.name]] = _End(found, tensor.name, tensor)
        for tensor in found.config.input:
            if tensor.name in step.input_map:
                targets.append((step.input_map[tensor.name], _End(found, tensor.name, tensor)))
    return sources, [*targets, *((tensor.name, _End(model, tensor.name, tensor)) for tensor in model.config.output)]


def _stuck(model: Model) -> list[str]:
    """The steps that never get all their inputs."""
    ready = {tensor.name for tensor in model.config.input}
    waiting = list(_steps(model))
    while runnable := [step for step in waiting if ready.issuperset(step.input_map.values())]:
        ready.update(value for step in runnable for value in step.output_map.values())
        waiting = [step for step in waiting if step not in runnable]
    return [step.model_name for step in waiting]


def _steps(model: Model) -> Any:
    return model.config.ensemble_scheduling.step


def _known_steps(model: Model, models: Models) -> Iterator[tuple[Any, Model]]:
    """The steps whose models can be looked at."""
    for step in _steps(model):
        found = models.get(step.model_name)
        if found is not None and not found.fault:
            yield step, found


def _reached_from(name: str, models: Models) -> set[str]:
    """The models that a model leads to, itself included."""
    reached, open_names = set(), [name]
    while open_names:
        current = open_names.pop()
        if current in models and current not in reached:
            reached.add(current)
            open_names += [step.model_name for step in _steps(models[current])]
    return reached
