"""The blocks of a `config.pbtxt` that only a pipeline on a GPU has: its encoder runs in Triton's own TensorRT or ONNX
Runtime backend.

These neither take ragged rows nor pad. The tokenizer pads to buckets, so that the configs can say which shapes there
are: each bucket is warmed, and has an optimization profile of the plan.
"""

from collections.abc import Iterator, Sequence

from tritonclient.grpc.model_config_pb2 import (
    ModelConfig,
    ModelDynamicBatching,
    ModelInput,
    ModelInstanceGroup,
    ModelOptimizationPolicy,
    ModelOutput,
    ModelTensorReshape,
    ModelWarmup,
)

from text_runtime.plan import Profile, profiles_of
from trireme.contract.pipelines import MAX_BATCH_SIZE, Contract, GpuLayout

CACHE_FOLDER = "/var/cache/trireme"
"""Where the container keeps what TensorRT measured and built; the only place outside /tmp that it may write to."""

_GATHERING_DELAY_US = 3_000
_BATCHING_DELAY_US = 500
_WORKSPACE_BYTES = 4 << 30


def add_encoder(config: ModelConfig, contract: Contract, layout: GpuLayout) -> None:
    """Complete the config of an encoder step, whose name, tensors and versions are there already."""
    profiles = profiles_of(layout.buckets, MAX_BATCH_SIZE)
    for tensor in config.input:
        tensor.allow_ragged_batch = False
    if not contract.task.is_per_token:
        for output in config.output:
            add_window(output)
    config.dynamic_batching.MergeFrom(merging())
    config.model_warmup.extend(warm_ups(config.input, profiles))
    if layout.engine == "tensorrt":
        config.backend, config.platform = "tensorrt", "tensorrt_plan"
        config.instance_group.append(plan_instances(profiles))
        return
    config.backend, config.platform = "onnxruntime", "onnxruntime_onnx"
    config.instance_group.append(ModelInstanceGroup(count=1, kind=ModelInstanceGroup.KIND_GPU))
    config.optimization.CopyFrom(tensorrt_accelerator(config.name, layout.precision, config.input, profiles))


def add_window(output: ModelOutput) -> None:
    """The graph gives a line a row, `[width]`; the steps after it expect one a window, `[1, width]`."""
    output.reshape.CopyFrom(ModelTensorReshape(shape=output.dims[1:]))


def gathering() -> ModelDynamicBatching:
    """The tokenizer waits a little: only requests that it holds together can be put in order of length."""
    return ModelDynamicBatching(max_queue_delay_microseconds=_GATHERING_DELAY_US)


def merging() -> ModelDynamicBatching:
    """The encoder's batcher waits for the rest of a run of equal shapes; another shape ends the wait at once."""
    return ModelDynamicBatching(preferred_batch_size=[MAX_BATCH_SIZE], max_queue_delay_microseconds=_BATCHING_DELAY_US)


def plan_instances(profiles: Sequence[Profile]) -> ModelInstanceGroup:
    """One instance a GPU with a context for every profile; the backend picks the one nearest to a batch's shape."""
    names = [str(index) for index in range(len(profiles))]
    return ModelInstanceGroup(count=1, kind=ModelInstanceGroup.KIND_GPU, profile=names)


def warm_ups(inputs: Sequence[ModelInput], profiles: Sequence[Profile]) -> Iterator[ModelWarmup]:
    """Every bucket with one row, the rows that it is tuned for, and a full batch: no user pays for the first."""
    for profile in profiles:
        for rows in profile.rows:
            yield ModelWarmup(
                name=f"{rows}x{profile.tokens}",
                batch_size=rows,
                inputs={tensor.name: _zeros(tensor, profile.tokens) for tensor in inputs},
            )


def _zeros(tensor: ModelInput, tokens: int) -> ModelWarmup.Input:
    return ModelWarmup.Input(data_type=tensor.data_type, dims=[tokens], zero_data=True)


def tensorrt_accelerator(
    model: str, precision: str, inputs: Sequence[ModelInput], profiles: Sequence[Profile]
) -> ModelOptimizationPolicy:
    """ONNX Runtime hands the graph to TensorRT, and keeps the engines that it builds and the timings behind them.

    One engine covers all buckets; it is tuned for the widest.
    """
    shapes = {
        "trt_profile_min_shapes": (profiles[0].min_rows, profiles[0].tokens),
        "trt_profile_opt_shapes": (profiles[-1].opt_rows, profiles[-1].tokens),
        "trt_profile_max_shapes": (profiles[-1].max_rows, profiles[-1].tokens),
    }
    settings = {
        "precision_mode": precision.upper(),
        "max_workspace_size_bytes": str(_WORKSPACE_BYTES),
        "trt_engine_cache_enable": "true",
        "trt_engine_cache_path": f"{CACHE_FOLDER}/{model}",
        "trt_timing_cache_enable": "true",
        "trt_timing_cache_path": f"{CACHE_FOLDER}/{model}",
        "trt_layer_norm_fp32_fallback": "true",
        **{key: _shapes(inputs, rows, tokens) for key, (rows, tokens) in shapes.items()},
    }
    policy = ModelOptimizationPolicy()
    policy.execution_accelerators.gpu_execution_accelerator.add(name="tensorrt", parameters=settings)
    return policy


def _shapes(inputs: Sequence[ModelInput], rows: int, tokens: int) -> str:
    return ",".join(f"{tensor.name}:{rows}x{tokens}" for tensor in inputs)
