"""Files beside a tokenizer that say other things than `tokenizer.json`: the library's word counts, not the file's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .case import Cases
from .files import edit_json
from .settings import changed

Edit = Callable[[Path], None]


def _config(**changes: Any) -> Edit:
    return lambda folder: edit_json(folder / "tokenizer_config.json", changes)


def _all(*edits: Edit) -> Edit:
    def edit(folder: Path) -> None:
        for one in edits:
            one(folder)

    return edit


def _without(*names: str) -> Edit:
    def edit(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return edit


def _added(content: str, **flags: Any) -> Edit:
    """A token of the vocabulary that the config makes an added one, with other flags than the file's."""

    def edit(folder: Path) -> None:
        path = folder / "tokenizer_config.json"
        decoder = json.loads(path.read_text())["added_tokens_decoder"]
        words = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
        usual = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False, "special": False}
        decoder[str(words[content])] = {"content": content} | usual | flags
        edit_json(path, {"added_tokens_decoder": decoder})

    return edit


def _inside(key: str, **changes: Any) -> Edit:
    """A change inside `tokenizer.json` itself, which the files beside it then contradict."""

    def edit(folder: Path) -> None:
        path = folder / "tokenizer.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        content[key] |= changes
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")

    return edit


def _fixed_length(folder: Path) -> None:
    """What a file of another use asks for: every row padded and cut to eight tokens."""
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    content["padding"] = {
        "strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None,
        "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
    }  # fmt: skip
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def cases() -> Cases:
    """Of this module."""
    spaced = {"add_prefix_space": True}
    return [
        changed("conflict_lower_false", _config(do_lower_case=False)),
        changed("conflict_lower_true", _config(do_lower_case=True), tokenizer={"do_lower_case": False}, is_long=True),
        changed("conflict_accents", _config(strip_accents=False)),
        changed("conflict_accents_stripped", _config(do_lower_case=False, strip_accents=True), is_long=True),
        changed("conflict_chinese", _config(tokenize_chinese_chars=False)),
        changed("conflict_prefix_space", _config(add_prefix_space=True), "roberta"),
        changed("conflict_no_prefix_space", _config(add_prefix_space=False), "roberta", spaced, is_long=True),
        changed("conflict_added_token", _added("fox", lstrip=True, rstrip=True)),
        changed("conflict_added_single_word", _added("fox", single_word=True), is_long=True),
        changed("conflict_added_normalized", _added("the", normalized=True), is_long=True),
        changed("conflict_length", _config(model_max_length=16), is_long=True),
        changed("conflict_side", _config(truncation_side="left"), is_long=True),
        changed("conflict_inside_lower", _inside("normalizer", lowercase=False), is_long=True),
        changed("conflict_clean_text", _inside("normalizer", clean_text=False), is_long=True),
        changed("conflict_inside_padding", _fixed_length),
        changed("vocabulary_only", _without("tokenizer.json", "special_tokens_map.json")),
        changed(
            "vocabulary_only_cased",
            _all(_without("tokenizer.json"), _config(do_lower_case=False)),
            is_long=True,
        ),
        changed(
            "vocabulary_only_without_config",
            _without("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
            is_long=True,
        ),
        changed("tokenizer_without_config", _without("tokenizer_config.json", "special_tokens_map.json"), is_long=True),
        changed("merges_only", _without("tokenizer.json"), "roberta"),
        changed("special_tokens_renamed", _config(unk_token="the"), is_long=True),
        changed("mask_taken_as_text", _config(mask_token="fox"), is_long=True),
    ]
