"""Folders of sentence-transformers: poolings, further modules and their order, prompts, lengths, layouts."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer, models

from .case import Case, Cases
from .files import edit_json
from .models import fill, write

_SIZE = 32
_LATER = ("mean", "max", "mean_sqrt_len_tokens")
_MODES = ("cls", "mean", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
_PROMPTS = {"query": "query: ", "passage": "the fox "}

Module = Callable[[], Any]


@dataclass(frozen=True)
class Recipe:
    """What stands in the folder. `further` are the modules behind the pooling; `edit` changes what was saved."""

    family: str = "bert"
    modes: str | tuple[str, ...] = "mean"
    further: tuple[Module, ...] = ()
    prompts: dict[str, str] = field(default_factory=dict)
    default_prompt: str | None = None
    is_prompt_pooled: bool = True
    max_length: int | None = 48
    is_lowered: bool = False
    head: str = "Model"
    tokenizer: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    edit: Callable[[Path], None] | None = None


def write_sentences(recipe: Recipe, folder: Path) -> None:
    """Save a folder as sentence-transformers itself does, of modules filled by the folder's name."""
    inner = folder.parent / f"{folder.name}.encoder" / folder.name
    shutil.rmtree(inner.parent, ignore_errors=True)
    write(inner, recipe.family, recipe.head, recipe.tokenizer, **recipe.config)
    encoder = models.Transformer(str(inner), max_seq_length=recipe.max_length, do_lower_case=recipe.is_lowered)
    pooling = models.Pooling(_SIZE, **_pooling(recipe.modes), include_prompt=recipe.is_prompt_pooled)
    further = [fill(make(), f"{folder.name}/{index}") for index, make in enumerate(recipe.further)]
    made = SentenceTransformer(
        modules=[encoder, pooling, *further],
        device="cpu",
        prompts=recipe.prompts or None,
        default_prompt_name=recipe.default_prompt,
    )
    made.save(str(folder), create_model_card=False)
    shutil.rmtree(inner.parent)
    if recipe.edit:
        recipe.edit(folder)


def _pooling(modes: str | tuple[str, ...]) -> dict[str, Any]:
    if isinstance(modes, str):
        return {"pooling_mode": modes}
    names = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}
    return {f"pooling_mode_{names.get(mode, mode)}": mode in modes for mode in ("mean", *modes)}


def _dense(out: int, activation: Any, has_bias: bool = True, inside: int = _SIZE) -> Module:
    return lambda: models.Dense(inside, out, bias=has_bias, activation_function=activation)


def _norm() -> Any:
    return models.Normalize()


def _into_folder(folder: Path) -> None:
    """The layout of old versions: the encoder in a folder of its own."""
    inner = folder / "0_Transformer"
    inner.mkdir()
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name not in ("modules.json", "config_sentence_transformers.json"):
            path.rename(inner / path.name)
    text = (folder / "modules.json").read_text().replace('"path": ""', '"path": "0_Transformer"', 1)
    (folder / "modules.json").write_text(text)


def _without_lengths(folder: Path) -> None:
    (folder / "sentence_bert_config.json").unlink()


def _length(value: int | None) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "sentence_bert_config.json"
        path.write_text('{"max_seq_length": %s, "do_lower_case": false}' % ("null" if value is None else value))

    return edit


def _old_pooling(folder: Path) -> None:
    """Pooling configs of old versions name neither the younger modes nor the prompt."""
    gone = ("pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken", "include_prompt")
    edit_json(folder / "1_Pooling" / "config.json", dict.fromkeys(gone))


def _case(name: str, recipe: Recipe, is_long: bool = False, **options: str) -> Case:
    return Case(
        f"sentence_{name}", "embedding", "vectors", partial(write_sentences, recipe), options=options, is_long=is_long
    )


def _poolings() -> Cases:
    single = [_case(f"pool_{mode}", Recipe(modes=mode, further=(_norm,)), mode in _LATER) for mode in _MODES]
    return [
        *single,
        _case("pool_cls_mean", Recipe(modes=("cls", "mean"))),
        _case("pool_three", Recipe("deberta_v2", modes=("max", "mean", "lasttoken"), further=(_norm,)), True),
    ]


def _modules() -> Cases:
    tanh, relu, identity = torch.nn.Tanh(), torch.nn.ReLU(), torch.nn.Identity()
    gelu = torch.nn.GELU()
    return [
        _case("dense", Recipe(further=(_dense(8, tanh), _norm))),
        _case("dense_identity", Recipe("mpnet", further=(_dense(16, identity, False),)), True),
        _case("dense_twice", Recipe(further=(_dense(16, relu), _dense(8, gelu, inside=16), _norm)), True),
        _case("normalize_then_dense", Recipe("distilbert", further=(_norm, _dense(8, tanh)))),
        _case("layer_norm", Recipe(further=(lambda: models.LayerNorm(_SIZE), _norm)), True),
        _case("dropout", Recipe(further=(lambda: models.Dropout(0.3), _norm)), True),
        _case("not_normalized", Recipe("roberta"), True),
        _case("normalize_twice", Recipe(further=(_norm, _dense(8, identity), _norm)), True),
    ]


def _prompts() -> Cases:
    asked = {"prompts": _PROMPTS, "further": (_norm,)}
    excluded = asked | {"is_prompt_pooled": False}
    return [
        _case("prompt", Recipe(default_prompt="query", **asked)),
        _case("prompt_excluded", Recipe(default_prompt="query", **excluded)),
        _case("prompt_named", Recipe("xlm_roberta", **asked), prompt="passage"),
        _case("prompt_unused", Recipe(**asked), True),
        _case("prompt_excluded_max", Recipe(modes="max", default_prompt="passage", **excluded), True),
        _case("prompt_excluded_cls", Recipe(modes="cls", default_prompt="passage", **excluded), True),
        _case("prompt_excluded_last", Recipe(modes="lasttoken", default_prompt="passage", **excluded), True),
        _case("prompt_excluded_bpe", Recipe("roberta", default_prompt="query", **excluded), True),
    ]


def _settings() -> Cases:
    cased = {"do_lower_case": False}
    return [
        _case("lowered", Recipe(is_lowered=True, tokenizer=cased, further=(_norm,))),
        _case("lowered_bpe", Recipe("roberta", is_lowered=True), True),
        _case("old_layout", Recipe(further=(_norm,), edit=_into_folder)),
        _case("old_pooling", Recipe(further=(_norm,), edit=_old_pooling), True),
        _case("short", Recipe(max_length=10, further=(_norm,))),
        _case("longer_than_tokenizer", Recipe(edit=_length(60), tokenizer={"limit": 24}), True),
        _case("length_null", Recipe(edit=_length(None)), True),
        _case("without_lengths", Recipe(edit=_without_lengths), True),
        _case("masked_language", Recipe(head="ForMaskedLM", edit=_masked), True),
        _case("truncated_left", Recipe(tokenizer={"truncation_side": "left"}, further=(_norm,)), True),
    ]


def _masked(folder: Path) -> None:
    """The encoder's weights replaced by those of the model with its masked-language head."""
    model = write(folder.parent / f"{folder.name}.masked" / folder.name, "bert", "ForMaskedLM")
    model.save_pretrained(folder)
    shutil.rmtree(folder.parent / f"{folder.name}.masked")


def cases() -> Cases:
    """Of this module."""
    return [*_poolings(), *_modules(), *_prompts(), *_settings()]
