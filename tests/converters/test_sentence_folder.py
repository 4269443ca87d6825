"""What sentence-transformers wrote beside an ONNX graph: pooling, scaling, prompts, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from converters.sources import Pooling, SourceOptions
from converters.sources.sentence_folder import recipe_of
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
    ("mode", "expected"), [("cls_token", Pooling.CLS), ("mean_tokens", Pooling.MEAN), ("max_tokens", Pooling.MAX)]
)
@pytest.mark.parametrize("is_normalized", [False, True])
def test_pooling_and_scaling_come_from_modules_json(
    tmp_path: Path, mode: str, expected: Pooling, is_normalized: bool
) -> None:
    write_modules(tmp_path, "Transformer", "Pooling", *(["Normalize"] if is_normalized else []), **{mode: True})
    recipe = recipe_of(tmp_path, SourceOptions())
    assert (recipe.pooling, recipe.is_normalized, recipe.longest) == (expected, is_normalized, None)


def test_the_longest_row_comes_from_sentence_bert_config(tmp_path: Path) -> None:
    write_modules(tmp_path, "Transformer", "Pooling", mean_tokens=True)
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 128, "do_lower_case": false}')
    assert recipe_of(tmp_path, SourceOptions()).longest == 128


def test_the_users_pooling_goes_before_the_checkpoints(tmp_path: Path) -> None:
    write_modules(tmp_path, "Transformer", "Pooling", "Normalize", mean_tokens=True)
    recipe = recipe_of(tmp_path, SourceOptions(pooling=Pooling.CLS))
    assert (recipe.pooling, recipe.is_normalized) == (Pooling.CLS, True)


@pytest.mark.parametrize(
    ("pooling", "words"),
    [
        ({"lasttoken": True}, "asks for pooling_mode_lasttoken"),
        ({"mean_tokens": True, "cls_token": True}, "asks for pooling_mode_cls_token and pooling_mode_mean_tokens"),
        ({}, "asks for no pooling"),
    ],
    ids=["last", "two", "none"],
)
def test_a_pooling_that_cannot_be_made_is_refused_with_the_option(
    tmp_path: Path, pooling: dict[str, bool], words: str
) -> None:
    write_modules(tmp_path, "Transformer", "Pooling", **pooling)
    with pytest.raises(CheckpointError, match=f"{words}.*with its weights"):
        recipe_of(tmp_path, SourceOptions())


def test_a_module_beyond_pooling_and_scaling_is_refused_by_name(tmp_path: Path) -> None:
    write_modules(tmp_path, "Transformer", "Pooling", "Dense", mean_tokens=True)
    with pytest.raises(CheckpointError, match="asks for Transformer, Pooling, Dense behind"):
        recipe_of(tmp_path, SourceOptions())


def write_prompts(folder: Path, include_prompt: bool) -> None:
    """Mean pooling, and two prompts of which `query` is the default."""
    write_modules(folder, "Transformer", "Pooling", mean_tokens=True)
    config = json.loads((folder / "1_Pooling" / "config.json").read_text()) | {"include_prompt": include_prompt}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
    known = {"prompts": {"query": "query: ", "document": ""}, "default_prompt_name": "query"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(known))


def test_the_default_prompt_stands_in_front_of_every_text_unless_another_is_named(tmp_path: Path) -> None:
    write_prompts(tmp_path, include_prompt=True)
    assert recipe_of(tmp_path, SourceOptions()).preparation.apply(" Hi ") == "query:  Hi"
    assert recipe_of(tmp_path, SourceOptions(prompt="document")).preparation.apply(" Hi ") == "Hi"
    with pytest.raises(CheckpointError, match="has no prompt 'title'"):
        recipe_of(tmp_path, SourceOptions(prompt="title"))


def test_a_prompt_that_the_pooling_leaves_out_is_refused_beside_a_graph(tmp_path: Path) -> None:
    write_prompts(tmp_path, include_prompt=False)
    with pytest.raises(CheckpointError, match="leaves its prompt out of the pooling"):
        recipe_of(tmp_path, SourceOptions())
