"""How an embedding is made: what sentence-transformers wrote beside a checkpoint, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from converters.sources import Pooling
from converters.sources.pooling import recipe_of
from trireme.errors import CheckpointError

_TYPE = "sentence_transformers.models."


def write_modules(folder: Path, *names: str, **pooling: bool) -> None:
    """A `modules.json` with these modules, and the config of its pooling."""
    modules = [
        {"idx": index, "name": str(index), "path": f"{index}_{name}", "type": _TYPE + name}
        for index, name in enumerate(names)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    config: dict[str, Any] = {"word_embedding_dimension": 8, "pooling_mode_cls_token": False}
    path = folder / "1_Pooling" / "config.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(config | {f"pooling_mode_{mode}": chosen for mode, chosen in pooling.items()}))


@pytest.mark.parametrize(
    ("mode", "expected"), [("cls_token", Pooling.CLS), ("mean_tokens", Pooling.MEAN)], ids=["cls", "mean"]
)
@pytest.mark.parametrize("is_normalized", [False, True])
def test_pooling_and_scaling_come_from_modules_json(
    tmp_path: Path, mode: str, expected: Pooling, is_normalized: bool
) -> None:
    write_modules(tmp_path, "Transformer", "Pooling", *(["Normalize"] if is_normalized else []), **{mode: True})
    recipe = recipe_of(tmp_path, None)
    assert (recipe.pooling, recipe.is_normalized, recipe.longest) == (expected, is_normalized, None)


def test_the_longest_row_comes_from_sentence_bert_config(tmp_path: Path) -> None:
    write_modules(tmp_path, "Transformer", "Pooling", mean_tokens=True)
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 128, "do_lower_case": false}')
    assert recipe_of(tmp_path, None).longest == 128


def test_the_users_pooling_goes_before_the_checkpoints(tmp_path: Path) -> None:
    write_modules(tmp_path, "Transformer", "Pooling", "Normalize", mean_tokens=True)
    recipe = recipe_of(tmp_path, Pooling.CLS)
    assert (recipe.pooling, recipe.is_normalized) == (Pooling.CLS, True)


@pytest.mark.parametrize(
    ("pooling", "words"),
    [
        ({"max_tokens": True}, "asks for pooling_mode_max_tokens"),
        ({"mean_tokens": True, "cls_token": True}, "asks for pooling_mode_cls_token and pooling_mode_mean_tokens"),
        ({}, "asks for no pooling"),
    ],
    ids=["max", "two", "none"],
)
def test_a_pooling_that_cannot_be_made_is_refused_with_the_option(
    tmp_path: Path, pooling: dict[str, bool], words: str
) -> None:
    write_modules(tmp_path, "Transformer", "Pooling", **pooling)
    with pytest.raises(CheckpointError, match=f"{words}.*--pooling"):
        recipe_of(tmp_path, None)


def test_a_module_beyond_pooling_and_scaling_is_refused_by_name(tmp_path: Path) -> None:
    write_modules(tmp_path, "Transformer", "Pooling", "Dense", mean_tokens=True)
    with pytest.raises(CheckpointError, match="asks for Dense"):
        recipe_of(tmp_path, None)
