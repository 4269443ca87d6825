"""Ways to damage a checkpoint's folder, by chance and from a seed. What is left may still be a right checkpoint."""

import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.parity.weight_damage import WEIGHT_DAMAGES

Chance = random.Random
Damage = Callable[[Path, Chance], str]
_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 123\n"
_ODD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 0.5, "", "x", "12", [], {}, [1], {"a": 1}, 2**31, 2**63, -(2**40)),
    *(float("nan"), float("inf"), ["x"] * 3, "../../etc/passwd", "\x00", "é" * 100),
)
_ODD_LABELS: tuple[Any, ...] = ({"0": "a", "2": "b"}, {}, ["a"], {"0": None, "1": "b", "2": "c"}, {"x": "y"})
_ODD_TOKENS: tuple[Any, ...] = ({"x": 1}, [], {"-1": {"content": "a"}}, {"99999": {"content": "zz"}})
_DEEP = 10_000


class NotApplicable(Exception):
    """The folder has nothing that could be damaged this way."""


def files_of(folder: Path, *suffixes: str) -> list[Path]:
    """The folder's files, those of folders in it too; with one of the suffixes where some are given."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in found if not suffixes or path.suffix in suffixes]


def _pick(folder: Path, chance: Chance, *suffixes: str) -> Path:
    found = files_of(folder, *suffixes)
    if not found:
        raise NotApplicable
    return chance.choice(found)


def _on_file(change: Callable[[Path, Chance], object], *suffixes: str) -> Damage:
    """A damage to one file, picked by chance."""

    def damage(folder: Path, chance: Chance) -> str:
        path = _pick(folder, chance, *suffixes)
        change(path, chance)
        return str(path.relative_to(folder))

    return damage


def _replace(make: Callable[[Path], object]) -> Callable[[Path, Chance], None]:
    def change(path: Path, _: Chance) -> None:
        path.unlink()
        make(path)

    return change


def _swap(folder: Path, chance: Chance) -> str:
    found = files_of(folder)
    if len(found) < 2:
        raise NotApplicable
    one, other = chance.sample(found, 2)
    contents = one.read_bytes(), other.read_bytes()
    one.write_bytes(contents[1])
    other.write_bytes(contents[0])
    return f"{one.name} and {other.name}"


def _flip(path: Path, chance: Chance) -> None:
    content = bytearray(path.read_bytes() or b"\0")
    for _ in range(chance.choice((1, 3, 30))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(bytes(content))


def _truncate(path: Path, chance: Chance) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content) or 1)])


def _on_text(change: Callable[[str], bytes], *suffixes: str) -> Damage:
    """A damage to the bytes of a file of text."""

    def rewrite(path: Path, _: Chance) -> None:
        path.write_bytes(change(path.read_text(encoding="utf-8", errors="replace")))

    return _on_file(rewrite, *(suffixes or (".json", ".txt")))


def _json_key(path: Path, chance: Chance) -> None:
    """Any value in a JSON file, at any depth, becomes one of another kind."""
    content = json.loads(path.read_text(encoding="utf-8"))
    holder = content
    while isinstance(holder, (dict, list)) and holder:
        key: Any = chance.choice(sorted(holder)) if isinstance(holder, dict) else chance.randrange(len(holder))
        if not isinstance(holder[key], (dict, list)) or not holder[key] or chance.random() < 0.3:
            holder[key] = chance.choice(_ODD_VALUES)
            break
        holder = holder[key]
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _without_key(path: Path, chance: Chance) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not content:
        raise NotApplicable
    del content[chance.choice(sorted(content))]
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _set(name: str, key: str, *values: Any) -> Damage:
    """A key of a named JSON file that becomes one of these values."""

    def damage(folder: Path, chance: Chance) -> str:
        found = sorted(folder.rglob(name))
        if not found:
            raise NotApplicable
        value = chance.choice(values)
        content = json.loads(found[0].read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise NotApplicable
        found[0].write_text(json.dumps(content | {key: value}), encoding="utf-8")
        return f"{key} {value!r}"[:60]

    return damage


def _vocabulary(change: Callable[[dict[str, int], Chance], None]) -> Damage:
    """A change to the ids of a `tokenizer.json`."""

    def damage(folder: Path, chance: Chance) -> str:
        found = sorted(folder.rglob("tokenizer.json"))
        content = json.loads(found[0].read_text(encoding="utf-8")) if found else {}
        words = content.get("model", {}).get("vocab")
        if not isinstance(words, dict):
            raise NotApplicable
        change(words, chance)
        found[0].write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        return "tokenizer.json"

    return damage


def _ids_beyond(words: dict[str, int], chance: Chance) -> None:
    words[chance.choice(sorted(words))] = chance.choice((10**4, 2**31 - 1, 2**32 + 1))


def _same_ids(words: dict[str, int], chance: Chance) -> None:
    one, other = chance.sample(sorted(words), 2)
    words[one] = words[other]


def _index(*names: Any) -> Damage:
    """An index of shards that names such a file, in the place of the weights."""

    def damage(folder: Path, chance: Chance) -> str:
        weights = sorted((*folder.glob("*.safetensors"), *folder.glob("pytorch_model*.bin")))
        if not weights:
            raise NotApplicable
        for path in weights:
            path.unlink()
        name = chance.choice(names)
        places = {"a.weight": name, "b.weight": name} if name is not None else {}
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
        return f"index {name!r}"

    return damage


_FILES: dict[str, Damage] = {
    "dropped file": _on_file(lambda path, _: path.unlink()),
    "truncated file": _on_file(_truncate),
    "empty file": _on_file(lambda path, _: path.write_bytes(b"")),
    "two files swapped": _swap,
    "bytes flipped": _on_file(_flip),
    "link to nothing": _on_file(_replace(lambda path: path.symlink_to("../nothing/there"))),
    "link to itself": _on_file(_replace(lambda path: path.symlink_to(path.name))),
    "link to a folder": _on_file(_replace(lambda path: path.symlink_to("."))),
    "link to /dev/full": _on_file(_replace(lambda path: path.symlink_to("/dev/full"))),
    "named pipe": _on_file(_replace(os.mkfifo)),
    "folder in its place": _on_file(_replace(Path.mkdir)),
    "git-lfs pointer": _on_file(lambda path, _: path.write_bytes(_POINTER)),
    "not allowed to read": _on_file(lambda path, _: path.chmod(0)),
}
_TEXTS: dict[str, Damage] = {
    "JSON of another type": _on_file(
        lambda path, chance: path.write_text(chance.choice(("[]", "null", '"x"', "3", "[[]]", "{}"))), ".json"
    ),
    "JSON nested too deep": _on_file(lambda path, _: path.write_text("[" * _DEEP + "]" * _DEEP), ".json"),
    "JSON objects nested too deep": _on_file(
        lambda path, _: path.write_text('{"a":' * _DEEP + "1" + "}" * _DEEP), ".json"
    ),
    "JSON with a huge number": _on_text(lambda text: re.sub(r"\d+", "1" + "0" * 400, text, count=1).encode(), ".json"),
    "JSON value of another kind": _on_file(_json_key, ".json"),
    "JSON key dropped": _on_file(_without_key, ".json"),
    "byte order mark": _on_text(lambda text: ("\ufeff" + text).encode()),
    "CRLF": _on_text(lambda text: text.replace("\n", "\r\n").encode()),
    "UTF-16": _on_text(lambda text: text.encode("utf-16")),
}  # fmt: skip
_CONFIGS: dict[str, Damage] = {
    "pad_token_id": _set("config.json", "pad_token_id", -1, 10**6, "0", None, [0], 1.5),
    "id2label": _set("config.json", "id2label", *_ODD_LABELS),
    "label2id": _set("config.json", "label2id", {"a": 7}, {"bad": 2, "fine": 1, "good": 0}, [], None),
    "sizes": _set("config.json", "vocab_size", 0, -5, 10, 10**7, "x"),
    "layers": _set("config.json", "num_hidden_layers", 0, -1, 1, 3, 200, "2", 1.5),
    "heads": _set("config.json", "num_attention_heads", 0, 3, 64, -2),
    "positions": _set("config.json", "max_position_embeddings", 0, 1, 2, 5, 10**6, None, "64"),
    "activation": _set("config.json", "hidden_act", "os.system", "", 3, None, "nothing"),
    "architectures": _set("config.json", "architectures", None, [], "Bert", ["os.system"], [None], [3], {}),
    "model_type": _set("config.json", "model_type", "", "nothing", None, 3, "t5", "../x"),
    "problem_type": _set("config.json", "problem_type", "nothing", 3, []),
    "model_max_length": _set("tokenizer_config.json", "model_max_length", -1, 0, 1, 2, 3.5, "64", 1e30, None, [], True),
    "tokenizer_class": _set("tokenizer_config.json", "tokenizer_class", "os.system", None, 3, "T5Tokenizer", "", []),
    "pad_token": _set("tokenizer_config.json", "pad_token", None, "nothing there", 3, {}, {"content": 1}),
    "truncation_side": _set("tokenizer_config.json", "truncation_side", "up", None, 3),
    "added tokens": _set("tokenizer_config.json", "added_tokens_decoder", *_ODD_TOKENS),
    "max_seq_length": _set("sentence_bert_config.json", "max_seq_length", -1, 0, 1, 10**6, "x", 3.5, True),
    "ids beyond the table": _vocabulary(_ids_beyond),
    "two tokens of one id": _vocabulary(_same_ids),
    "index outside": _index("../../../etc/passwd", "/etc/passwd", "/dev/zero", ".", "config.json"),
    "index of nothing": _index(None, 3, "gone.safetensors", ["x"], {}),
}  # fmt: skip
DAMAGES: dict[str, Damage] = _FILES | _TEXTS | _CONFIGS | WEIGHT_DAMAGES
"""Every kind of damage by its name."""
