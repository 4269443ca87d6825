"""A larger model for the benchmark: the demo's own function grown to the 6 layers x 768 of `ernie-3.0-medium`.

Every feature of the demo stands there several times, which leaves what it computes as it was (Chen, Goodfellow, Shlens:
Net2Net, 2016); between its two layers come four with small random weights, and all weights get some noise. So the model
costs what a real one of its size costs, and its labels have the margins of a trained model: how many of them another
precision keeps can be measured, which it could not on weights that are random throughout.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from converters.paddle_runtime import import_paddlenlp

_CHECKPOINT = Path(__file__).parent / "checkpoint"
_LAYERS, _HEADS = 6, 12
_NOISE, _RANDOM = 0.001, 0.02
_RESIDUAL = 0.1  # of a random layer's weights that write into the stream which the demo's layers read

Array = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Growth:
    """Where each feature of the larger model comes from: indices into the demo's features."""

    hidden: Places
    heads: Places
    inner: Places

    @classmethod
    def of(cls, small: Any, large: Any) -> "_Growth":
        """Between two configs."""
        narrow, wide = (config.hidden_size // config.num_attention_heads for config in (small, large))
        feature = np.arange(large.hidden_size)
        head, place = feature // wide % small.num_attention_heads, feature % wide % narrow
        inner = np.arange(large.intermediate_size) % small.intermediate_size
        return cls(feature % small.hidden_size, head * narrow + place, inner)

    def places(self, name: str) -> tuple[Places | None, Places | None]:
        """For a weight: where its inputs and its outputs come from; None where they stay."""
        if name.startswith("classifier"):
            return self.hidden, None
        if "_embeddings." in name:
            return None, self.hidden
        if "out_proj" in name:
            return self.heads, self.hidden
        if "_proj" in name:
            return self.hidden, self.heads
        return (self.inner if "linear2" in name else self.hidden), (self.inner if "linear1" in name else self.hidden)


def write_large_checkpoint(folder: Path) -> Path:
    """Write the checkpoint; gives its folder."""
    import paddle

    paddlenlp = import_paddlenlp()

    small = paddlenlp.ErnieConfig.from_pretrained(str(_CHECKPOINT))
    config = paddlenlp.ErnieConfig.from_pretrained(str(_CHECKPOINT))
    config.hidden_size, config.intermediate_size = 768, 3072
    config.num_hidden_layers, config.num_attention_heads = _LAYERS, _HEADS
    weights = {name: tensor.numpy() for name, tensor in paddle.load(str(_CHECKPOINT / "model_state.pdparams")).items()}
    model = paddlenlp.ErnieForSequenceClassification(config)
    grown = _grow(weights, _Growth.of(small, config))
    model.set_state_dict({name: grown.get(name, _calm(name, tensor)) for name, tensor in model.state_dict().items()})
    model.save_pretrained(str(folder))
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(_CHECKPOINT / name, folder / name)
    return folder


def _grow(weights: dict[str, Array], growth: _Growth) -> dict[str, Array]:
    random = np.random.default_rng(0)
    grown = {}
    for name, weight in weights.items():
        wide = _widen(name, weight, growth)
        noisy = wide + random.normal(0, _NOISE, wide.shape) if wide.ndim > 1 else wide
        grown[name.replace("layers.1.", f"layers.{_LAYERS - 1}.")] = noisy.astype(np.float32)
    return grown


def _widen(name: str, weight: Array, growth: _Growth) -> Array:
    inputs, outputs = growth.places(name)
    if weight.ndim == 2 and inputs is not None:
        weight = weight[inputs] * (len(weight) / len(inputs))
    wide = weight if outputs is None else weight[..., outputs]
    # A head with twice the places has twice the products, which attention divides by a root that grew by sqrt(2).
    return wide / np.float32(np.sqrt(2)) if "q_proj" in name else wide


def _calm(name: str, tensor: Any) -> Array:
    """A weight of a layer between: random, and quiet where it writes into the stream."""
    random = np.random.default_rng(sum(name.encode()))
    if tensor.ndim == 1:
        kept: Array = tensor.numpy()
        return kept
    scale = _RANDOM * (_RESIDUAL if "out_proj" in name or "linear2" in name else 1)
    return random.normal(0, scale, tensor.shape).astype(np.float32)
