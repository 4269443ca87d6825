"""Models of every family: two layers of 32, filled with numbers that no version of a library changes."""

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from . import vocabularies
from .vocabularies import Writer

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
_OFFSET = {"max_position_embeddings": 66, "pad_token_id": 1, "type_vocab_size": 1}
"""RoBERTa counts its positions from the one after padding's."""
_MPNET = ("<s>", "<pad>", "</s>", "[UNK]", "<mask>")


@dataclass(frozen=True)
class Family:
    """A family of transformers: the stem of its classes' names, its tokenizer, and how its config differs."""

    stem: str
    write: Writer
    kind: str | None = None
    config: dict[str, Any] = field(default_factory=dict)
    drops: tuple[str, ...] = ()
    tokenizer: dict[str, Any] = field(default_factory=dict)


def _wordpiece(stem: str, drops: tuple[str, ...] = (), **config: Any) -> Family:
    return Family(stem, vocabularies.write_wordpiece, stem, config, drops)


FAMILIES = {
    "bert": _wordpiece("Bert"),
    "electra": _wordpiece("Electra", embedding_size=16),
    "distilbert": Family(
        "DistilBert",
        vocabularies.write_wordpiece,
        "DistilBert",
        {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64},
        ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"),
    ),
    "mobilebert": _wordpiece(
        "MobileBert", embedding_size=16, intra_bottleneck_size=16, num_feedforward_networks=2, true_hidden_size=16
    ),
    "convbert": _wordpiece("ConvBert", embedding_size=16, head_ratio=2, conv_kernel_size=3),
    "squeezebert": _wordpiece("SqueezeBert", embedding_size=32),
    "ernie": Family("Ernie", vocabularies.write_wordpiece, "Bert", {"use_task_id": False}),
    "mpnet": Family(
        "MPNet",
        vocabularies.write_wordpiece,
        "MPNet",
        {"max_position_embeddings": 66, "pad_token_id": 1, "relative_attention_num_buckets": 32},
        tokenizer={"special": _MPNET},
    ),
    "roberta": Family("Roberta", vocabularies.write_bpe, "Roberta", _OFFSET),
    "longformer": Family("Longformer", vocabularies.write_bpe, "Longformer", _OFFSET | {"attention_window": 8}),
    "xlm_roberta": Family("XLMRoberta", vocabularies.write_unigram, "XLMRoberta", _OFFSET),
    "camembert": Family("Camembert", vocabularies.write_unigram, "Camembert", _OFFSET),
    "albert": Family(
        "Albert", vocabularies.write_bert_unigram, "Albert", {"embedding_size": 16, "num_hidden_groups": 1}
    ),
    "deberta_v2": Family(
        "DebertaV2",
        vocabularies.write_bert_unigram,
        "DebertaV2",
        {
            "relative_attention": True,
            "position_buckets": 8,
            "pos_att_type": ["p2c", "c2p"],
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
            "type_vocab_size": 0,
            "position_biased_input": False,
            "pooler_hidden_size": 32,
        },
    ),
    "big_bird": Family(
        "BigBird", vocabularies.write_bert_unigram, "BigBird", {"attention_type": "original_full", "block_size": 4}
    ),
    "modernbert": Family(
        "ModernBert",
        vocabularies.write_plain_bpe,
        None,
        {
            "local_attention": 8,
            "global_attn_every_n_layers": 2,
            "pad_token_id": 0,
            "cls_token_id": 2,
            "sep_token_id": 3,
        },
    ),
}


def fill(model: Any, name: str, scale: float = 0.25) -> Any:
    """Numbers for every parameter, from its name and the case's: matrices widely spread, so that a mistake shows.

    Vectors are biases and norms: a tenth around what they are at the start, 0 or 1.
    """
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            chance = np.random.RandomState(zlib.crc32(f"{name}/{key}".encode()))
            drawn = chance.standard_normal(tuple(parameter.shape)).astype(np.float32)
            is_norm = parameter.ndim == 1 and key.endswith("weight")
            values = drawn * scale if parameter.ndim > 1 else drawn * 0.1 + float(is_norm)
            parameter.copy_(torch.from_numpy(values))
    return model.eval()


def make(name: str, family: str, head: str, words: int, **config: Any) -> Any:
    """A filled model. `head` is the end of its class's name, such as `ForSequenceClassification` or `Model`."""
    found = FAMILIES[family]
    sizes = {key: value for key, value in SIZES.items() if key not in found.drops}
    settings = sizes | {"vocab_size": words} | found.config | config
    made = getattr(transformers, f"{found.stem}Config")(**settings)
    kind = getattr(transformers, f"{found.stem}{head}")
    return fill(kind._from_config(made, attn_implementation="eager"), name)


def write_tokenizer(folder: Path, family: str, **settings: Any) -> int:
    """The family's tokenizer; gives how many rows its model's table needs."""
    found = FAMILIES[family]
    kind = {} if found.kind is None else {"kind": found.kind}
    return found.write(folder, **kind, **(found.tokenizer | settings))


def labelled(*names: str) -> dict[str, Any]:
    """What a config says of its labels."""
    return {"id2label": dict(enumerate(names)), "label2id": {name: index for index, name in enumerate(names)}}


def write(folder: Path, family: str, head: str, tokenizer: dict[str, Any] | None = None, **config: Any) -> Any:
    """A whole checkpoint: tokenizer, config and weights; gives the model."""
    words = write_tokenizer(folder, family, **(tokenizer or {}))
    model = make(folder.name, family, head, words, **config)
    model.save_pretrained(folder)
    return model
