"""What decoders share: columns computed for all rows of an execution at once, then split back into requests."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.tasks.base import Tensors
from text_runtime.tasks.scores import activate, merge_windows

Array = npt.NDArray[Any]


def merged_scores(requests: Sequence[Tensors], activation: str) -> list[Array]:
    """The scores of each request's rows, windows merged: FP32 [rows, labels] a request."""
    return [merge_windows(activate(request["logits"], activation), request["new_tokens"]) for request in requests]


def split_by_request(columns: Mapping[str, Array], parts: Sequence[Array]) -> list[Tensors]:
    """Columns over all rows as one dictionary a request; `parts` has the requests' rows."""
    bounds = np.cumsum([len(rows) for rows in parts])[:-1]
    split = {name: np.split(column, bounds) for name, column in columns.items()}
    return [{name: pieces[index] for name, pieces in split.items()} for index in range(len(parts))]


def strings(values: Sequence[bytes]) -> Array:
    """One STRING element a row: [rows, 1]."""
    column = np.empty((len(values), 1), dtype=np.object_)
    column[:, 0] = values
    return column
