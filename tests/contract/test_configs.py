"""What every rendered config keeps to."""

import pytest

from text_runtime.tasks import task_names
from trireme.contract.configs import step_config
from trireme.contract.pipelines import CHAIN, Contract, GpuLayout, Step

LAYOUTS = (None, GpuLayout("tensorrt", (32, 64), ("input_ids",)), GpuLayout("onnxruntime", (32, 64), ("input_ids",)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("step", CHAIN)
@pytest.mark.parametrize("task", task_names())
def test_no_step_has_a_queue_policy_with_which_the_batcher_misses_wake_ups(
    task: str, step: Step, layout: GpuLayout | None
) -> None:
    batching = step_config(Contract("any", task, 3, layout), step, [1]).dynamic_batching
    assert not batching.HasField("default_queue_policy")
    assert not batching.priority_levels
    assert not batching.priority_queue_policy
