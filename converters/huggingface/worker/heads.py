"""What is served of a model, as one torch module: tensors in by position, one tensor out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .refusal import Refusal

FLOOR = 1e-9
"""The smallest sum of weights that a mean is divided by, as sentence-transformers has it."""


class LogitsHead(torch.nn.Module):
    """A head's logits: [rows, labels] or [rows, tokens, labels], with `activation` applied where there is one."""

    def __init__(self, model: Any, inputs: list[str], activation: Any = None) -> None:
        super().__init__()
        self.model = model
        self.inputs = inputs
        self.activation = activation

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        """See the class."""
        logits: torch.Tensor = self.model(**dict(zip(self.inputs, tensors)), return_dict=True).logits
        return self.activation(logits) if self.activation is not None else logits


class PooledEncoder(torch.nn.Module):
    """An encoder's token vectors made one: [rows, dimension]."""

    def __init__(self, model: Any, inputs: list[str], pooling: str) -> None:
        super().__init__()
        self.model = model
        self.inputs = inputs
        self.pooling = pooling

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        """See the class."""
        named = dict(zip(self.inputs, tensors))
        outputs = self.model(**named, return_dict=True)
        if self.pooling == "pooler":
            return _pooled(outputs)
        return POOLINGS[self.pooling](outputs.last_hidden_state, named["attention_mask"])


class SentenceEncoder(torch.nn.Module):
    """A sentence-transformers model's own modules, one after the other: [rows, dimension]."""

    def __init__(self, modules: list[Any], inputs: list[str], prompt_tokens: int) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(modules)
        self.inputs = inputs
        self.prompt_tokens = prompt_tokens

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        """See the class."""
        features: dict[str, Any] = dict(zip(self.inputs, tensors))
        features = self.parts[0](features)
        features["attention_mask"] = features["attention_mask"].clone()  # pooling writes into it
        if self.prompt_tokens:
            features["prompt_length"] = self.prompt_tokens
        for part in self.parts[1:]:
            features = part(features)
        vectors: torch.Tensor = features["sentence_embedding"]
        return vectors


def _pooled(outputs: Any) -> torch.Tensor:
    vectors = getattr(outputs, "pooler_output", None)
    if vectors is None:
        raise Refusal("has no pooler", "use another --pooling, such as mean")
    return torch.as_tensor(vectors)


def _weights(mask: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    return mask.unsqueeze(-1).to(states.dtype)


def _mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = _weights(mask, states)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=FLOOR)


def _mean_sqrt_len(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = _weights(mask, states)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=FLOOR).sqrt()


def _weighted_mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = _weights(mask, states) * mask.cumsum(1).unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=FLOOR)


def _largest(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return states.masked_fill(mask.unsqueeze(-1) == 0, -1e9).max(1)[0]


def _last_token(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    is_last = mask.to(torch.int64).cumsum(1) * mask == mask.sum(1, keepdim=True)
    return (states * _weights(is_last, states)).sum(1)


POOLINGS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "cls": lambda states, mask: states[:, 0],
    "mean": _mean,
    "max": _largest,
    "mean_sqrt_len": _mean_sqrt_len,
    "weightedmean": _weighted_mean,
    "lasttoken": _last_token,
}
