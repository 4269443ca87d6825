"""Tensors as the contract knows them: a name, a Triton data type, and dims without the batch dimension."""

from dataclasses import dataclass
from enum import Enum

import numpy as np


class DataType(Enum):
    """Triton's data types that text pipelines use; the value is Triton's own spelling in `config.pbtxt`."""

    STRING = "TYPE_STRING"
    INT32 = "TYPE_INT32"
    INT64 = "TYPE_INT64"
    FP32 = "TYPE_FP32"
    BOOL = "TYPE_BOOL"
    UINT32 = "TYPE_UINT32"

    @property
    def numpy(self) -> type[np.generic]:
        """The numpy scalar type that carries this data type."""
        return _NUMPY[self]


_NUMPY: dict[DataType, type[np.generic]] = {
    DataType.STRING: np.object_,
    DataType.INT32: np.int32,
    DataType.INT64: np.int64,
    DataType.FP32: np.float32,
    DataType.BOOL: np.bool_,
    DataType.UINT32: np.uint32,
}


@dataclass(frozen=True)
class TensorSpec:
    """One input or output of a step. `dims` leaves the batch dimension out; -1 is a length that varies by row.

    A request may leave out an input that `is_optional`.
    """

    name: str
    data_type: DataType
    dims: tuple[int, ...]
    is_optional: bool = False

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"tensor name {self.name!r} is not an identifier")
        if not self.dims or any(size == 0 or size < -1 for size in self.dims):
            raise ValueError(f"tensor '{self.name}': dims {self.dims} must be positive or -1")

    @property
    def is_ragged(self) -> bool:
        """Whether two rows may differ in shape, so that Triton must not demand equal shapes within a batch."""
        return -1 in self.dims


TEXT = TensorSpec("text", DataType.STRING, (1,))
TEXT_PAIR = TensorSpec("text_pair", DataType.STRING, (1,))
INPUT_IDS = TensorSpec("input_ids", DataType.INT64, (-1,))
TOKEN_TYPE_IDS = TensorSpec("token_type_ids", DataType.INT64, (-1,))
ATTENTION_MASK = TensorSpec("attention_mask", DataType.INT64, (-1,))
LENGTHS = TensorSpec("lengths", DataType.INT32, (-1,))
DEADLINE = TensorSpec("deadline_ns", DataType.INT64, (1,))
"""When a request's own `timeout` runs out, on the machine's monotonic clock; 0 where it has none."""
TRUNCATED_CHARS = TensorSpec("truncated_chars", DataType.INT32, (1,))
SCHEMA = TensorSpec("schema", DataType.STRING, (1,))
NEW_TOKENS = TensorSpec("new_tokens", DataType.INT32, (-1,))
"""How many of each window's tokens no earlier window of its row has shown: the window's weight in a mean."""
SPANS = TensorSpec("spans", DataType.INT32, (-1, 3))
"""For each token: first character, character after the last, and group (its word, or its prompt); -1, -1, -1 for
special tokens, padding, and the copy of a token that another window owns."""
