"""Renders `config.pbtxt` files through Triton's own protobuf messages, one small function a block."""

from collections.abc import Iterable

from google.protobuf import text_format
from tritonclient.grpc.model_config_pb2 import DataType as TritonType
from tritonclient.grpc.model_config_pb2 import (
    ModelConfig,
    ModelDynamicBatching,
    ModelEnsembling,
    ModelInput,
    ModelInstanceGroup,
    ModelOutput,
    ModelParameter,
    ModelVersionPolicy,
)

from text_runtime.tensors import TensorSpec
from trireme.contract import gpu_configs
from trireme.contract.pipelines import MAX_BATCH_SIZE, Contract, Step

_HEADER = "# Rendered by trireme: do not edit. `trireme export` keeps it; only pins and version_policy move.\n"


def render(config: ModelConfig) -> str:
    """A config as the text of a `config.pbtxt` file."""
    return _HEADER + text_format.MessageToString(config, use_short_repeated_primitives=True)


def parse(text: str) -> ModelConfig:
    """The config in the text of a `config.pbtxt` file.

    Raises:
        google.protobuf.text_format.ParseError: the text is not a model config.
    """
    return text_format.Parse(text, ModelConfig())


def step_config(contract: Contract, step: Step, versions: Iterable[int]) -> ModelConfig:
    """The config of one step that keeps `versions` loaded."""
    inputs, outputs = _step_tensors(contract, step)
    config = ModelConfig(
        name=step.model_name(contract.pipeline),
        max_batch_size=MAX_BATCH_SIZE,
        input=[_input(tensor) for tensor in inputs],
        output=[_output(tensor) for tensor in outputs],
        dynamic_batching=ModelDynamicBatching(),
        version_policy=specific_versions(versions),
    )
    if contract.gpu and step is Step.ENCODER:
        gpu_configs.add_encoder(config, contract, contract.gpu)
        return config
    config.MergeFrom(_own_backend(step, contract.instances or 1))
    if contract.gpu and step is Step.TOKENIZER:
        config.dynamic_batching.MergeFrom(gpu_configs.gathering())
    return config


def _own_backend(step: Step, instances: int) -> ModelConfig:
    """What runs in one of our Python backends."""
    return ModelConfig(
        backend=f"text_{step.value}",
        instance_group=[ModelInstanceGroup(count=instances, kind=ModelInstanceGroup.KIND_CPU)],
        parameters=_parameters({"FORCE_CPU_ONLY_INPUT_TENSORS": "yes"}),
    )


def ensemble_config(contract: Contract, release: int) -> ModelConfig:
    """The config of the pipeline itself: an ensemble that pins every step to one release."""
    return ModelConfig(
        name=contract.pipeline,
        platform="ensemble",
        max_batch_size=MAX_BATCH_SIZE,
        input=[_input(tensor) for tensor in contract.inputs],
        output=[_output(tensor) for tensor in contract.outputs],
        ensemble_scheduling=ModelEnsembling(step=[_pinned_step(contract, step, release) for step in contract.steps]),
        version_policy=specific_versions([release]),
    )


def specific_versions(versions: Iterable[int]) -> ModelVersionPolicy:
    """A policy that keeps exactly these versions loaded."""
    return ModelVersionPolicy(specific=ModelVersionPolicy.Specific(versions=sorted(versions)))


def _step_tensors(contract: Contract, step: Step) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    if step is Step.JOINED:
        return contract.inputs, contract.outputs
    if step is Step.TOKENIZER:
        return contract.inputs, contract.tokenizer_outputs
    if step is Step.ENCODER:
        return contract.encoder_inputs, (contract.encoder_output,)
    return contract.postprocess_inputs, contract.task.outputs(contract.width)


def _pinned_step(contract: Contract, step: Step, release: int) -> ModelEnsembling.Step:
    inputs, outputs = _step_tensors(contract, step)
    return ModelEnsembling.Step(
        model_name=step.model_name(contract.pipeline),
        model_version=release,
        input_map={tensor.name: tensor.name for tensor in inputs},
        output_map={tensor.name: tensor.name for tensor in outputs},
    )


def _input(tensor: TensorSpec) -> ModelInput:
    return ModelInput(
        name=tensor.name,
        data_type=TritonType.Value(tensor.data_type.value),
        dims=tensor.dims,
        allow_ragged_batch=tensor.is_ragged,
    )


def _output(tensor: TensorSpec) -> ModelOutput:
    return ModelOutput(name=tensor.name, data_type=TritonType.Value(tensor.data_type.value), dims=tensor.dims)


def _parameters(values: dict[str, str]) -> dict[str, ModelParameter]:
    return {name: ModelParameter(string_value=value) for name, value in values.items()}
