"""The configs of target gpu, held by golden files, and what Triton's backends will want of them."""

import pytest
from tritonclient.grpc.model_config_pb2 import ModelInstanceGroup

from tests.generated import gpu_configs
from trireme.contract.configs import ensemble_config, parse, step_config
from trireme.contract.pipelines import MAX_BATCH_SIZE, Contract, GpuLayout, Step
from trireme.errors import UnsupportedError

BUCKETS = (32, 64, 128)
GRAPH = ("input_ids", "token_type_ids")


def contract(engine: str = "tensorrt", task: str = "text-classification") -> Contract:
    """A pipeline of target gpu."""
    return Contract("p", task, 2, GpuLayout(engine, BUCKETS, GRAPH))


def test_rendered_configs_are_the_golden_ones() -> None:
    for path, text in gpu_configs().items():
        assert path.read_text() == text, f"{path.name} differs: python -m tests.generated"
        assert parse(text).name


def test_the_encoder_is_a_plan_that_takes_neither_ragged_rows_nor_anything_but_its_graphs_inputs() -> None:
    config = step_config(contract(), Step.ENCODER, [1])
    assert (config.platform, config.backend) == ("tensorrt_plan", "tensorrt")
    assert [(tensor.name, tensor.allow_ragged_batch) for tensor in config.input] == [(name, False) for name in GRAPH]
    assert not config.parameters
    (group,) = config.instance_group
    assert (group.kind, list(group.profile)) == (ModelInstanceGroup.KIND_GPU, ["0", "1", "2"])


@pytest.mark.parametrize("engine", ["tensorrt", "onnxruntime"])
def test_every_bucket_is_warmed_from_one_row_to_a_full_batch(engine: str) -> None:
    warmed: dict[int, set[int]] = {}
    for sample in step_config(contract(engine), Step.ENCODER, [1]).model_warmup:
        assert set(sample.inputs) == set(GRAPH)
        (tokens,) = {tuple(value.dims) for value in sample.inputs.values()}
        warmed.setdefault(tokens[0], set()).add(sample.batch_size)
    assert set(warmed) == set(BUCKETS)
    assert all({1, MAX_BATCH_SIZE} < rows for rows in warmed.values())


def test_the_fallback_keeps_engines_and_timings_and_computes_in_fp16() -> None:
    config = step_config(contract("onnxruntime"), Step.ENCODER, [1])
    (accelerator,) = config.optimization.execution_accelerators.gpu_execution_accelerator
    settings = dict(accelerator.parameters)
    assert (accelerator.name, settings["precision_mode"]) == ("tensorrt", "FP16")
    assert settings["trt_engine_cache_path"] == settings["trt_timing_cache_path"] == "/var/cache/trireme/p_encoder"
    assert settings["trt_profile_min_shapes"] == "input_ids:1x32,token_type_ids:1x32"
    assert settings["trt_profile_max_shapes"] == f"input_ids:{MAX_BATCH_SIZE}x128,token_type_ids:{MAX_BATCH_SIZE}x128"


def test_a_row_has_one_window_and_the_graph_gives_a_line_a_row() -> None:
    (output,) = step_config(contract(), Step.ENCODER, [1]).output
    assert (list(output.dims), list(output.reshape.shape)) == ([1, 2], [2])
    (tags,) = step_config(contract(task="token-classification"), Step.ENCODER, [1]).output
    assert (list(tags.dims), tags.HasField("reshape")) == ([-1, 2], False)


def test_every_tensor_of_a_step_comes_from_a_step_before_it() -> None:
    made = {"text"}
    for step in ensemble_config(contract(), 1).ensemble_scheduling.step:
        assert set(step.input_map.values()) <= made
        made |= set(step.output_map.values())


def test_a_graph_with_an_attention_mask_gets_it_from_the_tokenizer() -> None:
    layout = GpuLayout("tensorrt", BUCKETS, ("input_ids", "attention_mask"))
    config = step_config(Contract("p", "embedding", 8, layout), Step.TOKENIZER, [1])
    assert "attention_mask" in {tensor.name for tensor in config.output}


@pytest.mark.parametrize(("engine", "graph"), [("openvino", GRAPH), ("tensorrt", ("input_ids", "position_ids"))])
def test_what_a_gpu_layout_cannot_have_is_named(engine: str, graph: tuple[str, ...]) -> None:
    with pytest.raises(UnsupportedError, match="openvino|position_ids"):
        GpuLayout(engine, BUCKETS, graph)
