"""Settings of configs and files that change an answer, each on one family."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from .case import PAIRS, TEXTS, Case, Cases
from .files import WEIGHTS, edit_json, load_tensors, save_tensors
from .models import labelled, write

Edit = Callable[[Path], None]
_LABELS = labelled("bad", "fine", "good")
_LIMITLESS = 10**30


def _write(family: str, tokenizer: dict[str, Any], config: dict[str, Any], edit: Edit | None, folder: Path) -> None:
    write(folder, family, "ForSequenceClassification", tokenizer=tokenizer, **(_LABELS | config))
    if edit:
        edit(folder)


def changed(
    name: str,
    edit: Edit | None = None,
    family: str = "bert",
    tokenizer: dict[str, Any] | None = None,
    is_long: bool = False,
    **config: Any,
) -> Case:
    """A classifier with other settings in its config, or with an edit to its files."""
    make = partial(_write, family, tokenizer or {}, config, edit)
    return Case(name, "text-classification", "classification", make, is_long=is_long)


def _in_precision(dtype: torch.dtype) -> Edit:
    def edit(folder: Path) -> None:
        save_tensors(folder, {name: tensor.to(dtype) for name, tensor in load_tensors(folder).items()})
        edit_json(folder / "config.json", {"dtype": str(dtype).removeprefix("torch.")})

    return edit


def _renamed_norms(folder: Path) -> None:
    """The names that TensorFlow's BERT gave its norms."""
    names = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    tensors = load_tensors(folder)
    for new, old in names.items():
        tensors = {name.replace(new, old): tensor for name, tensor in tensors.items()}
    save_tensors(folder, tensors)


def _with_metadata(metadata: dict[str, str]) -> Edit:
    return lambda folder: save_tensors(folder, load_tensors(folder), metadata)


def _pickled(folder: Path) -> None:
    torch.save(load_tensors(folder), folder / "pytorch_model.bin")
    (folder / WEIGHTS).unlink()


def _sharded(folder: Path) -> None:
    tensors = load_tensors(folder)
    names = sorted(tensors)
    parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, part in parts.items():
        save_tensors(folder, {name: tensors[name] for name in part})
        (folder / WEIGHTS).rename(folder / file)
    places = {name: file for file, part in parts.items() for name in part}
    index = {"metadata": {"total_size": 0}, "weight_map": places}
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps(index))


def _sharded_pickles(folder: Path) -> None:
    tensors = load_tensors(folder)
    names = sorted(tensors)
    parts = {"pytorch_model-00001-of-00002.bin": names[::2], "pytorch_model-00002-of-00002.bin": names[1::2]}
    for file, part in parts.items():
        torch.save({name: tensors[name] for name in part}, folder / file)
    places = {name: file for file, part in parts.items() for name in part}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    (folder / WEIGHTS).unlink()


def _pruned(folder: Path) -> None:
    """Two of a model's heads pruned by the library itself, which writes that into the config."""
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(folder)
    model.prune_heads({0: [1], 1: [0]})
    model.save_pretrained(folder)


def _with_named_pad(folder: Path) -> None:
    edit_json(folder / "config.json", {"pad_token_id": None})


def _precisions_and_files() -> Cases:
    return [
        changed("half_float16", _in_precision(torch.float16)),
        changed("half_bfloat16", _in_precision(torch.bfloat16), "roberta", is_long=True),
        changed("double_precision", _in_precision(torch.float64), is_long=True),
        changed("norms_named_gamma_and_beta", _renamed_norms),
        changed("metadata_of_tensorflow", _with_metadata({"format": "tf"})),
        changed("metadata_of_flax", _with_metadata({"format": "flax"}), is_long=True),
        changed("metadata_without_format", _with_metadata({"made_by": "somebody"}), is_long=True),
        changed("pickled_weights", _pickled, "electra"),
        changed("sharded_weights", _sharded),
        changed("sharded_pickles", _sharded_pickles, is_long=True),
        changed("pruned_heads", _pruned),
        changed("without_pad_in_config", _with_named_pad, is_long=True),
    ]


def _configs() -> Cases:
    return [
        changed("large_epsilon", layer_norm_eps=0.05, is_long=True),
        changed("activation_gelu_new", hidden_act="gelu_new", is_long=True),
        changed("activation_silu", family="electra", hidden_act="silu"),
        changed("activation_relu", hidden_act="relu", is_long=True),
        changed("activation_gelu_pytorch_tanh", family="roberta", hidden_act="gelu_pytorch_tanh", is_long=True),
        changed("activation_quick_gelu", hidden_act="quick_gelu", is_long=True),
        changed("activation_mish", hidden_act="mish", is_long=True),
        changed("activation_relu6", family="distilbert", activation="relu", is_long=True),
        changed("hidden_groups", family="albert", num_hidden_groups=2, num_hidden_layers=4, inner_group_num=2),
        changed("relative_key", position_embedding_type="relative_key"),
        changed("relative_key_query", position_embedding_type="relative_key_query", is_long=True),
        changed("sinusoidal_positions", family="distilbert", sinusoidal_pos_embds=True, is_long=True),
        changed("three_token_types", type_vocab_size=3, is_long=True),
        changed("deberta_without_sharing", family="deberta_v2", share_att_key=False, is_long=True),
        changed("deberta_convolution", family="deberta_v2", conv_kernel_size=3, conv_act="gelu", is_long=True),
        changed("modernbert_mean", family="modernbert", classifier_pooling="mean", is_long=True),
        changed("electra_summary", family="electra", summary_type="first", is_long=True),
    ]


def _tokenizers() -> Cases:
    left = {"truncation_side": "left"}
    return [
        changed("truncated_left", tokenizer=left),
        Case(
            "truncated_left_pair",
            "text-pair-classification",
            "classification",
            partial(_write, "roberta", left, {}, None),
            TEXTS,
            PAIRS,
            is_long=True,
        ),
        changed("limitless_tokenizer", tokenizer={"limit": _LIMITLESS}, family="roberta"),
        changed("short_tokenizer", tokenizer={"limit": 12}, is_long=True),
        changed("padded_left", tokenizer={"padding_side": "left"}, is_long=True),
    ]


def cases() -> Cases:
    """Of this module."""
    return [*_precisions_and_files(), *_configs(), *_tokenizers()]
