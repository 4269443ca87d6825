"""What is put on a PaddleNLP model so that its graph has one output of the task's shape.

Only what a task needs leaves the graph: pooling an embedding inside it sends [windows, dimension] to the next step
rather than [tokens, dimension].
"""

from typing import Any

from trireme.errors import UnsupportedError

POOLINGS = ("cls", "mean", "pooler")


def with_head(model: Any, task_name: str, pooling: str = "mean") -> Any:
    """The model as it is for tasks whose head is its own; wrapped for `embedding` and `information-extraction`.

    Raises:
        UnsupportedError: there is no such pooling.
    """
    if task_name == "embedding":
        if pooling not in POOLINGS:
            raise UnsupportedError("pooling", pooling, list(POOLINGS))
        return _pooled(model, pooling)
    return _stacked(model) if task_name == "information-extraction" else model


def _pooled(model: Any, pooling: str) -> Any:
    """[rows, tokens] -> [rows, dimension]: the first token, the mean of all but padding, or the model's own pooler."""
    import paddle

    class Pooled(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, token_type_ids: Any = None) -> Any:
            hidden, pooler = self.model(input_ids, token_type_ids)[:2]
            if pooling == "pooler":
                return pooler
            if pooling == "cls":
                return hidden[:, 0]
            mask = (input_ids != self.model.config.pad_token_id).astype(hidden.dtype).unsqueeze(-1)
            return (hidden * mask).sum(axis=1) / mask.sum(axis=1).clip(min=1.0)

    return _evaluated(Pooled())


def _stacked(model: Any) -> Any:
    """UIE's two outputs [rows, tokens] as one [rows, tokens, 2]: the start's and the end's probability."""
    import paddle

    class Stacked(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, token_type_ids: Any) -> Any:
            return paddle.stack(self.model(input_ids, token_type_ids), axis=-1)

    return _evaluated(Stacked())


def _evaluated(layer: Any) -> Any:
    layer.eval()
    return layer
