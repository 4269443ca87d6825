"""What lets a server batch, and spares its first users the wait."""

from collections.abc import Iterator

from trireme.serving.check.model import OUR_STEPS, Model, Models
from trireme.serving.check.release_folders import encoder_releases_of
from trireme.serving.finding import Finding

_EXPLICIT = ("python", *OUR_STEPS)
_COMPILING = ("onnxruntime", "openvino", "pytorch", "tensorflow", "tensorrt")


def ragged_flags(model: Model, models: Models) -> Iterator[Finding]:
    """Triton's batcher may merge rows of different lengths; else it merges only neighbours of equal shape.

    A release whose tokenizer pads to buckets has few lengths, and sorts by them.
    """
    is_bucketed = any(manifest.tokenizer.buckets for _, manifest in encoder_releases_of(model))
    if is_bucketed or not model.config.HasField("dynamic_batching") or model.config.max_batch_size < 2:
        return
    stiff = [tensor.name for tensor in model.config.input if -1 in tensor.dims and not tensor.allow_ragged_batch]
    if stiff:
        problem = f"requests of different lengths are never batched together: {', '.join(stiff)} may vary"
        yield model.warning(problem, _remedy(model))


def _remedy(model: Model) -> str:
    if model.backend in OUR_STEPS:
        return "add allow_ragged_batch: true to each"
    if model.backend == "python":
        return "add allow_ragged_batch: true to each, and pad the rows together in model.py"
    return "pad to a few lengths in the step before, or serve the graph with text_encoder, which pads by itself"


def is_on(model: Model, models: Models) -> Iterator[Finding]:
    """A model that takes batches gets them: ensembles never batch, and a Python backend only where it is told."""
    is_decoupled = model.config.model_transaction_policy.decoupled
    is_told = model.config.WhichOneof("scheduling_choice")
    if model.backend in _EXPLICIT and model.config.max_batch_size > 1 and not (is_told or is_decoupled):
        yield model.warning("requests are never batched together", "add dynamic_batching { }")


def warm_up(model: Model, models: Models) -> Iterator[Finding]:
    """Backends that compile or plan for a shape when they meet it have met one before the first user does."""
    if model.backend in _COMPILING and not model.config.model_warmup:
        remedy = "add model_warmup with the usual shapes (steps only, never the ensemble)"
        yield model.warning("has no warm-up: its first requests wait until the engine has prepared", remedy)
