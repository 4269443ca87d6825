"""Folders that have no right answer, or none without running code: an export must say so in one line."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from .case import Case, Cases
from .files import WEIGHTS, edit_json, load_tensors, save_tensors
from .models import labelled, make, write, write_tokenizer
from .sentences import Recipe, write_sentences

Edit = Callable[[Path], None]
_POINTER = (
    b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32\nsize 12345\n"
)
_LABELS = labelled("bad", "fine", "good")
_HEAD = "ForSequenceClassification"


def _edited(edit: Edit, family: str, config: dict[str, Any], folder: Path) -> None:
    write(folder, family, _HEAD, **(_LABELS | config))
    edit(folder)


def _bad(
    name: str, refused: str, edit: Edit, task: str = "text-classification", family: str = "bert", **config: Any
) -> Case:
    return Case(f"refused_{name}", task, "", partial(_edited, edit, family, config), refused=refused)


def _without_rows(folder: Path) -> None:
    """A tokenizer with three tokens that the table of embeddings lacks."""
    words = write_tokenizer(folder, "bert")
    make(folder.name, "bert", _HEAD, words - 3, **_LABELS).save_pretrained(folder)


def _one_type(folder: Path) -> None:
    """RoBERTa knows one token type; BERT's tokenizer gives the second text of a pair another."""
    from .vocabularies import write_wordpiece

    words = write_wordpiece(folder, "Bert")
    make(folder.name, "roberta", _HEAD, words, **_LABELS, pad_token_id=0).save_pretrained(folder)


def _with_unused(folder: Path) -> None:
    tensors = load_tensors(folder)
    save_tensors(folder, tensors | {"adapter.weight": tensors["classifier.weight"]})


def _without(pattern: str) -> Edit:
    def edit(folder: Path) -> None:
        save_tensors(folder, {name: value for name, value in load_tensors(folder).items() if pattern not in name})

    return edit


def _with_nan(folder: Path) -> None:
    tensors = load_tensors(folder)
    tensors["classifier.weight"][0, 0] = float("nan")
    save_tensors(folder, tensors)


def _with_code(folder: Path) -> None:
    classes = {"AutoConfig": "mine.Config", "AutoModelForSequenceClassification": "mine.Model"}
    edit_json(folder / "config.json", {"model_type": "mine", "auto_map": classes})
    (folder / "mine.py").write_text("raise SystemExit('code of the folder ran')\n")


def _pointer(name: str) -> Edit:
    return lambda folder: (folder / name).write_bytes(_POINTER) and None


def _dangling(name: str) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to("../../blobs/0123456789abcdef")

    return edit


def _holes(folder: Path) -> None:
    edit_json(folder / "config.json", {"id2label": {"0": "bad", "2": "good"}, "label2id": {"bad": 0, "good": 2}})


def _shard_outside(folder: Path) -> None:
    names = dict.fromkeys(load_tensors(folder), "../../../etc/passwd")
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": names}))
    (folder / WEIGHTS).unlink()


def _wrong_shape(folder: Path) -> None:
    edit_json(folder / "config.json", {"intermediate_size": 60})


def _encoder_only(folder: Path) -> None:
    """An encoder that is asked for a classifier's scores: its head would be made up."""
    write(folder, "bert", "Model", **_LABELS)
    edit_json(folder / "config.json", {"architectures": None})


def _sentences(name: str, refused: str, edit: Edit, **recipe: Any) -> Case:
    made = partial(write_sentences, Recipe(**recipe, edit=edit))
    return Case(f"refused_sentence_{name}", "embedding", "", made, refused=refused)


def _module(kind: str) -> Edit:
    """The last module of another class."""

    def edit(folder: Path) -> None:
        path = folder / "modules.json"
        entries = json.loads(path.read_text())
        entries[-1]["type"] = kind
        path.write_text(json.dumps(entries))

    return edit


def _path_outside(folder: Path) -> None:
    path = folder / "modules.json"
    path.write_text(path.read_text().replace('"1_Pooling"', '"../../1_Pooling"'))


def _strange_activation(folder: Path) -> None:
    edit_json(folder / "2_Dense" / "config.json", {"activation_function": "os.getcwd"})


def _strange_modes(folder: Path) -> None:
    edit_json(folder / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": False})


def _dense() -> Any:
    from sentence_transformers import models

    return models.Dense(32, 8, activation_function=torch.nn.Tanh())


def _files() -> Cases:
    return [
        Case("refused_ids_beyond_the_table", "text-classification", "", _without_rows, refused="rows|table|embedding"),
        Case("refused_second_type", "text-pair-classification", "", _one_type, refused="type"),
        _bad("unused_weights", "adapter.weight", _with_unused),
        _bad("missing_bias", "attention.output.dense.bias", _without("layer.1.attention.output.dense.bias")),
        _bad("missing_head", "classifier", _without("classifier")),
        _bad("missing_embeddings", "word_embeddings", _without("word_embeddings")),
        Case("refused_no_head", "text-classification", "", _encoder_only, refused="classifier"),
        _bad("nan_weights", "NaN|not a number|finite", _with_nan),
        _bad("code_of_its_own", "code of its own", _with_code),
        _bad("pointer_for_weights", "model.safetensors is a git-lfs pointer", _pointer(WEIGHTS)),
        _bad("pointer_for_tokenizer", "tokenizer.json is a git-lfs pointer", _pointer("tokenizer.json")),
        _bad("dangling_weights", "model.safetensors is a link to", _dangling(WEIGHTS)),
        _bad("dangling_vocabulary", "vocab.txt is a link to", _dangling("vocab.txt")),
        _bad("holes_in_labels", "id2label|labels|shape|mismatch", _holes),
        _bad("shard_outside_the_folder", "etc/passwd", _shard_outside),
        _bad("config_of_another_shape", "shape|mismatch|size", _wrong_shape),
        _bad("head_of_another_task", "--task text-classification", lambda _: None, "token-classification"),
        _bad("reranker_of_three_columns", "one or two columns|3", lambda _: None, "reranking"),
        Case(
            "refused_without_pooling", "embedding", "", partial(write, family="bert", head="Model"), refused="--pooling"
        ),
    ]


def _modules() -> Cases:
    library = "sentence_transformers.models"
    return [
        _sentences("custom_class", "custom_st.Mine", _module("custom_st.Mine")),
        _sentences("unknown_module", "CNN", _module(f"{library}.CNN"), further=(_dense,)),
        _sentences("path_outside", "outside|\\.\\./", _path_outside),
        _sentences("strange_activation", "os.getcwd", _strange_activation, further=(_dense,)),
        _sentences("no_mode_of_pooling", "ooling", _strange_modes),
        _sentences("pointer_for_dense", "git-lfs pointer", _pointer(f"2_Dense/{WEIGHTS}"), further=(_dense,)),
    ]


def cases() -> Cases:
    """Of this module."""
    return [*_files(), *_modules()]
