"""Heads that give a text, or a pair of texts, scores: every family, and every way to make scores of logits."""

from functools import partial
from pathlib import Path
from typing import Any

from .case import PAIRS, TEXTS, Case, Cases
from .files import edit_json
from .models import FAMILIES, labelled, write

_HEAD = "ForSequenceClassification"
_EARLY = ("xlm_roberta", "albert", "deberta_v2", "modernbert")
"""Families that no other case of CI's run has a head of."""
_THREE = labelled("bad", "fine", "good")
_CROSS = {"num_labels": 1}


def classifier(name: str, family: str = "bert", is_long: bool = False, **more: Any) -> Case:
    """A case of text classification; `more` is its config, and `tokenizer`, its tokenizer's settings."""
    return Case(name, "text-classification", "classification", partial(_write, family, _THREE | more), is_long=is_long)


def _write(family: str, config: dict[str, Any], folder: Path) -> Any:
    if config.get("num_labels"):
        config = {key: value for key, value in config.items() if key not in ("id2label", "label2id")}
    return write(folder, family, _HEAD, **config)


def _families() -> Cases:
    return [classifier(f"family_{family}", family, family not in _EARLY) for family in FAMILIES]


def _problems() -> Cases:
    two = labelled("no", "yes")
    return [
        classifier("single_label_named", is_long=True, problem_type="single_label_classification", **two),
        classifier("several_labels", "distilbert", problem_type="multi_label_classification"),
        Case(
            "several_labels_task",
            "multi-label-classification",
            "classification",
            partial(_write, "bert", _THREE | {"problem_type": "multi_label_classification"}),
        ),
        classifier("regression_one", "roberta", problem_type="regression", num_labels=1),
        classifier("regression_three", "electra", problem_type="regression"),
        classifier("one_label_without_problem", num_labels=1),
        classifier("four_labels", "albert", is_long=True, **labelled("N", "S", "E", "W")),
    ]


def _pairs() -> Cases:
    families = {
        "bert": False,
        "roberta": False,
        "deberta_v2": True,
        "distilbert": True,
        "mpnet": True,
        "xlm_roberta": True,
    }
    return [
        Case(
            f"pair_{family}",
            "text-pair-classification",
            "classification",
            partial(_write, family, _THREE),
            TEXTS,
            PAIRS,
            is_long=is_long,
        )
        for family, is_long in families.items()
    ]


def _cross(name: str, family: str, settings: dict[str, Any], is_long: bool = False) -> Case:
    make = partial(_write_cross, family, settings)
    return Case(name, "reranking", "relevance", make, TEXTS, PAIRS, is_long=is_long)


def _write_cross(family: str, settings: dict[str, Any], folder: Path) -> None:
    _write(family, _CROSS, folder)
    edit_json(folder / "config.json", settings)


def _cross_encoders() -> Cases:
    old, new = "sbert_ce_default_activation_function", "sentence_transformers"
    linear, activation = "torch.nn.modules.linear.Identity", "torch.nn.modules.activation"
    return [
        _cross("cross_default", "bert", {}),
        _cross("cross_identity_old", "xlm_roberta", {old: linear}),
        _cross("cross_identity_new", "electra", {new: {"activation_fn": linear, "version": "5.1.2"}}),
        _cross("cross_sigmoid_new", "roberta", {new: {"activation_fn": f"{activation}.Sigmoid"}}, is_long=True),
        _cross("cross_sigmoid_old", "bert", {old: f"{activation}.Sigmoid"}, is_long=True),
        _cross("cross_tanh", "bert", {new: {"activation_fn": f"{activation}.Tanh"}}, is_long=True),
    ]


def cases() -> Cases:
    """Of this module."""
    return [*_families(), *_problems(), *_pairs(), *_cross_encoders()]
