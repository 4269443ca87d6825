"""Bare encoders, whose pooling the user names, and encoders that were saved with another head."""

from functools import partial
from pathlib import Path
from typing import Any

from .case import Case, Cases
from .models import write

_POOLED = {
    "cls": "bert",
    "mean": "xlm_roberta",
    "max": "distilbert",
    "mean_sqrt_len": "modernbert",
    "weightedmean": "electra",
    "lasttoken": "deberta_v2",
    "pooler": "albert",
}
_MASKED = {"bert": "ForMaskedLM", "roberta": "ForMaskedLM", "electra": "ForPreTraining", "albert": "ForMaskedLM"}


def bare(name: str, family: str, pooling: str, head: str = "Model", is_long: bool = False, **config: Any) -> Case:
    """An encoder by itself, to be pooled in that way."""
    make = partial(_write, family, head, config)
    return Case(name, "embedding", "vectors", make, options={"pooling": pooling}, is_long=is_long)


def _write(family: str, head: str, config: dict[str, Any], folder: Path) -> Any:
    return write(folder, family, head, **config)


def cases() -> Cases:
    """Of this module."""
    pooled = [
        bare(f"bare_{pooling}", family, pooling, is_long=pooling in ("max", "mean_sqrt_len"))
        for pooling, family in _POOLED.items()
    ]
    means = [
        bare(f"bare_mean_{family}", family, "mean", is_long=True)
        for family in ("bert", "roberta", "mpnet", "camembert", "big_bird", "longformer")
    ]
    masked = [
        bare(f"masked_{family}", family, "mean", head, is_long=family != "bert") for family, head in _MASKED.items()
    ]
    other = bare("pretrained_bert", "bert", "pooler", "ForPreTraining", is_long=True)
    return [*pooled, *means, *masked, other]
