"""Types and dims of a config's tensors, so that two of them can be held against each other."""

from collections.abc import Sequence
from typing import Any

from tritonclient.grpc.model_config_pb2 import DataType

from trireme.serving.check.model import Model


def type_name(tensor: Any) -> str:
    """A config's data type as it is written: `TYPE_INT64`."""
    return str(DataType.Name(tensor.data_type))


def full_dims(model: Model, tensor: Any) -> tuple[int, ...]:
    """Dims as they travel: with the batch dimension in front where the model batches."""
    return ((-1,) if model.config.max_batch_size > 0 else ()) + tuple(tensor.dims)


def backend_dims(model: Model, tensor: Any) -> tuple[int, ...]:
    """Dims as the backend gets or gives them: reshaped where the config says so, the batch dimension in front."""
    dims = tensor.reshape.shape if tensor.HasField("reshape") else tensor.dims
    return ((-1,) if model.config.max_batch_size > 0 else ()) + tuple(dims)


def are_compatible(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether one shape can be both: equally long, and equal wherever neither varies. So Triton compares them."""
    return len(one) == len(other) and all(-1 in pair or pair[0] == pair[1] for pair in zip(one, other, strict=True))
