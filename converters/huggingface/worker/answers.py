"""What the folder's own library answers, from text to answer: the judge of a whole release."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import torch
import transformers

from .refusal import Refusal, gist

Array = np.ndarray[Any, Any]


def _softmax(logits: Array) -> Array:
    shifted = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(-1, keepdims=True))


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "softmax": _softmax,
    "sigmoid": lambda logits: np.asarray(1 / (1 + np.exp(-logits))),
    "identity": lambda logits: logits,
}
_SAME = 1e-4
_PROBES = ["a", "the quick brown fox", "很好的酒店，服务也不错"]


def classification_scores(
    model: Any, tokenizer: Any, texts: list[str], pairs: list[str] | None, max_length: int
) -> Array:
    """The scores of `transformers`' own pipeline: [rows, labels], in the order of the model's labels."""
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
    given: list[Any] = texts if pairs is None else [{"text": a, "text_pair": b} for a, b in zip(texts, pairs)]
    columns = {label: index for index, label in model.config.id2label.items()}
    scores = np.zeros((len(texts), len(columns)), dtype=np.float32)
    for row, text in enumerate(given):
        answer = pipe(text, top_k=None, truncation=True, max_length=max_length)
        for entry in answer:
            scores[row, columns[entry["label"]]] = entry["score"]
    return scores


def activation_of(model: Any, tokenizer: Any, max_length: int) -> str:
    """How the library's pipeline makes scores of logits, found by asking it: `softmax`, `sigmoid` or `identity`.

    Raises:
        Refusal: it does something else.
    """
    try:
        scores = classification_scores(model, tokenizer, _PROBES, None, max_length)
    except Exception as error:
        problem = f"transformers' own pipeline does not answer with it ({type(error).__name__}: {gist(error)})"
        raise Refusal(problem, 'mend the folder until `pipeline("text-classification")` works with it') from error
    rows = [tokenizer(text, truncation=True, max_length=max_length, return_tensors="pt") for text in _PROBES]
    with torch.no_grad():
        logits = np.concatenate([model(**row).logits.float().numpy() for row in rows])
    errors = {name: float(np.abs(apply(logits) - scores).max()) for name, apply in _ACTIVATIONS.items()}
    best = min(errors, key=lambda name: errors[name])
    if errors[best] > _SAME:
        problem = "transformers' pipeline makes its scores in a way that is neither softmax, sigmoid nor raw"
        raise Refusal(problem, "mend problem_type in config.json")
    return best


def relevance(cross_encoder: Any, texts: list[str], pairs: list[str]) -> Array:
    """What sentence-transformers' CrossEncoder predicts: [rows], or the logits [rows, 2] of a head of two columns."""
    raw = {"activation_fn": torch.nn.Identity()} if cross_encoder.config.num_labels > 1 else {}
    scores: Array = cross_encoder.predict(list(zip(texts, pairs)), show_progress_bar=False, **raw)
    return scores


def pooled(states: Array, pooling: str) -> Array:
    """One vector of one text's token vectors [tokens, dimension], as sentence-transformers' documentation has it."""
    if pooling == "cls":
        return np.asarray(states[0])
    if pooling == "lasttoken":
        return np.asarray(states[-1])
    if pooling == "max":
        return np.asarray(states.max(0))
    if pooling == "mean_sqrt_len":
        return np.asarray(states.sum(0) / np.sqrt(len(states)))
    weights = np.arange(1, len(states) + 1) if pooling == "weightedmean" else np.ones(len(states))
    return np.asarray((states * weights[:, None]).sum(0) / weights.sum())
