"""Whether a new release keeps its pipeline's contract: outputs may be added, and nothing is changed or removed."""

from tritonclient.grpc.model_config_pb2 import ModelConfig

from trireme.errors import ContractError

_PARTS = ("input", "max_batch_size", "backend", "platform")
_ON_GPU = ("model_warmup", "optimization")


def require_kept(pipeline: str, found: ModelConfig, wanted: ModelConfig, is_gpu: bool) -> None:
    """Compare what clients and steps rely on: names, types, dims, ragged flags, batch size, and shapes on a GPU.

    Args:
        pipeline: the name that an error tells.
        found: a model's config on disk.
        wanted: the config that a new release needs.
        is_gpu: whether the pipeline's shapes are part of its contract.

    Raises:
        ContractError: something was changed or removed.
    """
    for part in (*_PARTS, *(_ON_GPU if is_gpu else ())):
        if getattr(found, part) != getattr(wanted, part):
            raise ContractError(pipeline, f"{part} of {wanted.name} differs")
    outputs = {output.name: output for output in wanted.output}
    for output in found.output:
        if output.name not in outputs:
            raise ContractError(pipeline, f"output of {wanted.name} differs: '{output.name}' is gone")
        if output != outputs[output.name]:
            raise ContractError(pipeline, f"output of {wanted.name} differs: '{output.name}' is another")


def with_added_outputs(found: ModelConfig, wanted: ModelConfig) -> ModelConfig:
    """The config on disk with the outputs that a new release adds, and everything else as it is.

    An ensemble also takes them over from its steps. Both fit each other, as `require_kept` tells.
    """
    known = {output.name for output in found.output}
    changed = ModelConfig()
    changed.CopyFrom(found)
    changed.output.extend(output for output in wanted.output if output.name not in known)
    steps = zip(changed.ensemble_scheduling.step, wanted.ensemble_scheduling.step, strict=True)
    for step, other in steps:
        for name, tensor in other.output_map.items():
            if name not in step.output_map:
                step.output_map[name] = tensor
    return changed
