"""A `config.pbtxt` by itself: what Triton refuses before it looks at any other file."""

from collections import Counter
from collections.abc import Iterator

from tritonclient.grpc.model_config_pb2 import ModelConfig

from trireme.serving.check.model import Model, Models
from trireme.serving.finding import Finding

_STEPS_ONLY = ("instance_group", "model_warmup")


def unreadable(model: Model) -> Finding:
    """A config that is missing, does not parse, or has a field that Triton does not know."""
    return model.error(model.fault, "write one that is whole")


def values(model: Model, models: Models) -> Iterator[Finding]:
    """The name is the folder's, batch sizes fit together, and an ensemble holds nothing that only steps may have."""
    config = model.config
    if config.name and config.name != model.name:
        yield model.error(f"name '{config.name}' is not the folder's", f'write name: "{model.name}"')
    if config.max_batch_size < 0:
        yield model.error(
            f"max_batch_size is {config.max_batch_size}", "give the most rows of one batch, or 0 for none"
        )
    too_large = [size for size in config.dynamic_batching.preferred_batch_size if size > config.max_batch_size]
    if too_large:
        remedy = "prefer no more, or leave preferred_batch_size out"
        yield model.error(f"prefers batches of {too_large}, max_batch_size is {config.max_batch_size}", remedy)
    if model.is_ensemble:
        yield from _foreign_to_ensembles(model)


def tensors(model: Model, models: Models) -> Iterator[Finding]:
    """Every input and output has a name of its own, a type, and dims that can be."""
    for kind, found in (("input", model.config.input), ("output", model.config.output)):
        for name, count in Counter(tensor.name for tensor in found).items():
            if count > 1:
                yield model.error(f"{kind} '{name}' stands there {count} times", "keep one of them")
        for tensor in found:
            if problem := _problem(tensor, model.is_completed):
                yield model.error(f"{kind} '{tensor.name}' {problem[0]}", problem[1])


def _problem(tensor: ModelConfig, is_completed: bool) -> tuple[str, str] | None:
    if not tensor.name:
        return "has no name", "give it one"
    if not tensor.data_type and not is_completed:
        return "has no data_type", "give it one, such as TYPE_FP32"
    if not (tensor.dims or is_completed) or any(size == 0 or size < -1 for size in tensor.dims):
        return f"has the dims {list(tensor.dims)}", "give at least one; each is 1 or more, or -1 where it varies"
    return None


def _foreign_to_ensembles(model: Model) -> Iterator[Finding]:
    if not model.config.ensemble_scheduling.step:
        yield model.error("is an ensemble without steps", "add ensemble_scheduling with its steps")
    if model.config.backend:
        yield model.error(f"is an ensemble with the backend '{model.config.backend}'", "leave the backend out")
    for field in _STEPS_ONLY:
        if getattr(model.config, field):
            yield model.error(f"is an ensemble with {field}", f"move {field} to the steps: only they run")
