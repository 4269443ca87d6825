"""Where the heads and neurons of a Paddle model are, and how rows get into it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from converters.sources import SourceModel, TokenIds
from trireme.errors import UnsupportedError

_PRUNABLE = ["BERT", "ELECTRA", "ERNIE", "ERNIE-M", "RoBERTa"]


def encoder_layers(source: SourceModel) -> list[Any]:
    """The `paddle.nn.TransformerEncoderLayer`s of a source, the first at the bottom.

    Raises:
        UnsupportedError: it has none (ALBERT's share their weights, XLM-RoBERTa's are of another class).
    """
    import paddle

    parts = source.layer.sublayers() if source.layer is not None else []
    layers = [part for part in parts if isinstance(part, paddle.nn.TransformerEncoderLayer)]
    if not layers:
        raise UnsupportedError("--prune of architecture", source.facts.architecture, _PRUNABLE)
    return layers


def batch_of(source: SourceModel, rows: Sequence[TokenIds]) -> list[Any]:
    """Tensors INT64 [rows, tokens], padded to the longest row, in the order in which the layer takes them."""
    import paddle

    shape = (len(rows), max(len(row.ids) for row in rows))
    ids, types = np.full(shape, source.traits.pad_token_id, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    for line, row in enumerate(rows):
        ids[line, : len(row.ids)], types[line, : len(row.ids)], mask[line, : len(row.ids)] = row.ids, row.type_ids, 1
    made = {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}
    return [paddle.to_tensor(made[name]) for name in source.graph_inputs]
