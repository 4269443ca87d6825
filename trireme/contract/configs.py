"""Renders `config.pbtxt` files through Triton's own protobuf messages, one small function a block."""

from collections.abc import Iterable

from google.protobuf import text_format
from tritonclient.grpc.model_config_pb2 import DataType as TritonType
from tritonclient.grpc.model_config_pb2 import (
    ModelConfig,
    ModelEnsembling,
    ModelInput,
    ModelInstanceGroup,
    ModelOutput,
    ModelParameter,
    ModelVersionPolicy,
)

from text_runtime.manifest import ENCODER_FAMILY
from text_runtime.tensors import TensorSpec
from trireme.contract import gpu_configs
from trireme.contract.families import Identity, StepModel
from trireme.contract.pipelines import Contract, PipelineContract, Step, task_of

_HEADER = "# Rendered by trireme: do not edit. `trireme export` keeps it; only pins and version_policy move.\n"
_FAMILY, _TASK = "family", "task"


def render(config: ModelConfig) -> str:
    """A config as the text of a `config.pbtxt` file."""
    return _HEADER + text_format.MessageToString(config, use_short_repeated_primitives=True)


def parse(text: str) -> ModelConfig:
    """The config in the text of a `config.pbtxt` file.

    Raises:
        google.protobuf.text_format.ParseError: the text is not a model config.
    """
    return text_format.Parse(text, ModelConfig())


def step_config(contract: PipelineContract, step: Step, versions: Iterable[int]) -> ModelConfig:
    """The config of one step that keeps `versions` loaded."""
    model = contract.layout.model(step)
    config = ModelConfig(
        name=step.model_name(contract.pipeline),
        max_batch_size=contract.family.max_batch_size,
        input=[_input(tensor) for tensor in model.inputs(contract)],
        output=[_output(tensor) for tensor in model.outputs(contract)],
        version_policy=specific_versions(versions),
    )
    if model.is_decoupled:
        config.model_transaction_policy.decoupled = True
    else:
        config.dynamic_batching.SetInParent()
    if isinstance(contract, Contract) and contract.gpu and step == Step.ENCODER:
        gpu_configs.add_encoder(config, contract, contract.gpu)
        return config
    config.MergeFrom(_own_backend(model, contract.processes))
    if isinstance(contract, Contract) and contract.gpu and step == Step.TOKENIZER:
        config.dynamic_batching.MergeFrom(gpu_configs.gathering())
    return config


def _own_backend(model: StepModel, instances: int) -> ModelConfig:
    """What runs in one of our Python backends."""
    return ModelConfig(
        backend=model.backend,
        instance_group=[ModelInstanceGroup(count=instances, kind=ModelInstanceGroup.KIND_CPU)],
        parameters=_parameters({"FORCE_CPU_ONLY_INPUT_TENSORS": "yes"}),
    )


def ensemble_config(contract: PipelineContract, release: int) -> ModelConfig:
    """The config of the pipeline itself: an ensemble that pins every step to one release, and says what it is."""
    return ModelConfig(
        name=contract.pipeline,
        platform="ensemble",
        max_batch_size=contract.family.max_batch_size,
        input=[_input(tensor) for tensor in contract.inputs],
        output=[_output(tensor) for tensor in contract.outputs],
        ensemble_scheduling=ModelEnsembling(step=_pinned_calls(contract, release)),
        version_policy=specific_versions([release]),
        parameters=_parameters({_FAMILY: contract.family.name, _TASK: contract.task_name}),
    )


def identity_of(config: ModelConfig) -> Identity:
    """The family and task that the config of a pipeline, or of the router in its place, says.

    The compatibility rule: a config that says neither was written when there was one family only, *encoder*, whose
    tasks differ in the names of their tensors.
    """
    said = {name: config.parameters[name].string_value for name in (_FAMILY, _TASK) if name in config.parameters}
    names = ([tensor.name for tensor in tensors] for tensors in (config.input, config.output))
    return Identity(said.get(_FAMILY, ENCODER_FAMILY), said.get(_TASK) or task_of(*names))


def specific_versions(versions: Iterable[int]) -> ModelVersionPolicy:
    """A policy that keeps exactly these versions loaded."""
    return ModelVersionPolicy(specific=ModelVersionPolicy.Specific(versions=sorted(versions)))


def _pinned_calls(contract: PipelineContract, release: int) -> list[ModelEnsembling.Step]:
    models = (contract.layout.model(step) for step in contract.steps)
    return [
        ModelEnsembling.Step(
            model_name=model.step.model_name(contract.pipeline),
            model_version=release,
            input_map={tensor.name: name for name, tensor in call.inputs.items()},
            output_map={tensor.name: name for name, tensor in call.outputs.items()},
        )
        for model in models
        for call in model.calls(model, contract)
    ]


def _input(tensor: TensorSpec) -> ModelInput:
    return ModelInput(
        name=tensor.name,
        data_type=TritonType.Value(tensor.data_type.value),
        dims=tensor.dims,
        allow_ragged_batch=tensor.is_ragged,
        optional=tensor.is_optional,
    )


def _output(tensor: TensorSpec) -> ModelOutput:
    return ModelOutput(name=tensor.name, data_type=TritonType.Value(tensor.data_type.value), dims=tensor.dims)


def _parameters(values: dict[str, str]) -> dict[str, ModelParameter]:
    return {name: ModelParameter(string_value=value) for name, value in values.items()}
