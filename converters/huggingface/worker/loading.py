"""Loads config, tokenizer and weights as the library does, strictly: no code, no made-up weights, none unused."""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import Any

import torch
import transformers

from .foreign import mislabelled_weights
from .refusal import Refusal, gist

_LOCAL = {"local_files_only": True, "trust_remote_code": False}
_OLDEST = (4, 40)
_HEADS = {
    "text-classification": "AutoModelForSequenceClassification",
    "multi-label-classification": "AutoModelForSequenceClassification",
    "text-pair-classification": "AutoModelForSequenceClassification",
    "reranking": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "embedding": "AutoModel",
}
_PRETRAINING = ("AutoModelForMaskedLM", "AutoModelForPreTraining")
"""Heads that an encoder is trained with and that are thrown away when it is used for embeddings."""
_CAUSAL = "AutoModelForCausalLM"
_SAVE_AGAIN = "save it again with save_pretrained"


def require_safe_libraries() -> None:
    """Refuse a library too old to be asked this way, and let no pickle run code, whichever version it is.

    Raises:
        Refusal: transformers is older than 4.40.
    """
    found = tuple(int(part) for part in transformers.__version__.split(".")[:2])
    if found < _OLDEST:
        raise Refusal(f"this interpreter has transformers {transformers.__version__}", "give one with 4.40 or newer")
    torch.load = functools.partial(torch.load, weights_only=True)


def load_config(folder: str) -> Any:
    """The folder's config, as the library reads it.

    Raises:
        Refusal: it cannot be read, or needs code of its own.
    """
    try:
        return transformers.AutoConfig.from_pretrained(folder, **_LOCAL)
    except Exception as error:  # the library has no exception tree
        if "trust_remote_code" in str(error):
            problem = "needs code of its own (auto_map in config.json), which is never run"
            raise Refusal(problem, "use an architecture that transformers itself has") from error
        raise Refusal(f"config.json does not load ({gist(error)})", _SAVE_AGAIN) from error


def load_tokenizer(folder: str) -> Any:
    """The folder's fast tokenizer, with all that the files beside `tokenizer.json` change about it.

    Raises:
        Refusal: it does not load, or has no fast form.
    """
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, use_fast=True, **_LOCAL)
    except Exception as error:
        problem = f"its tokenizer does not load ({gist(error)})"
        raise Refusal(problem, "save the tokenizer into the same folder with save_pretrained") from error
    if not tokenizer.is_fast:
        problem = f"its tokenizer {type(tokenizer).__name__} has no fast form, which is what can be served"
        raise Refusal(problem, "save a fast tokenizer (tokenizer.json) into the folder")
    return tokenizer


def load_model(folder: str, config: Any, task: str) -> tuple[Any, list[str]]:
    """The model of a task's head in fp32 and evaluation mode, and the names of the weights that the files lack.

    What is missing may still be of no use for the task (a pooler that nothing reads): the caller finds out.

    Raises:
        Refusal: the architecture does not serve the task, the weights do not load, or some of them are not used.
    """
    model, found = _load(folder, config, getattr(transformers, _head_of(config, task)))
    unexpected = sorted(found["unexpected_keys"])
    allowed = _pretraining_weights(config) if task == "embedding" and unexpected else set()
    _require_all_used(model, [name for name in unexpected if name not in allowed])
    return model, sorted(found["missing_keys"])


def load_causal_model(folder: str, config: Any) -> tuple[Any, list[str]]:
    """The model that writes, in fp32 and evaluation mode, and the names of the weights that the files lack.

    Raises:
        Refusal: the folder holds no causal language model, its weights do not load, or some of them are not used.
    """
    named = (getattr(config, "architectures", None) or [None])[0]
    fitting = _class_names(_CAUSAL, config)
    if not fitting or (named is not None and named not in fitting):
        problem = f"{named or config.model_type} is no causal language model"
        raise Refusal(problem, "give one, such as a LlamaForCausalLM; other tasks have `trireme export`")
    model, found = _load(folder, config, getattr(transformers, _CAUSAL))
    _require_all_used(model, sorted(found["unexpected_keys"]))
    return model, sorted(found["missing_keys"])


def _load(folder: str, config: Any, auto: Any) -> tuple[Any, dict[str, Any]]:
    """The model of an auto class, and what the library says of the weights that it found."""
    named = {"attn_implementation": "eager", _dtype_name(): torch.float32, "output_loading_info": True}
    try:
        weights = mislabelled_weights(folder)
        if weights is None:
            model, found = auto.from_pretrained(folder, config=config, **named, **_LOCAL)
        else:
            kind = auto._model_mapping[type(config)]
            model, found = kind.from_pretrained(None, config=config, state_dict=weights, **named)
    except Refusal:
        raise
    except Exception as error:
        raise Refusal(f"the weights do not load ({_reason(error)})", _SAVE_AGAIN) from error
    model.eval()
    return model, found


def require_needed_weights(output: Any, model: Any, missing: list[str]) -> None:
    """Refuse a model whose `output` depends on a weight that the files lack, which the library has made up.

    Raises:
        Refusal: there are such weights; the first is named.
    """
    if not missing:
        return
    output.float().sum().backward()
    parameters = dict(model.named_parameters())
    used = [name for name in missing if name in parameters and parameters[name].grad is not None]
    model.zero_grad(set_to_none=True)
    if used:
        problem = f"the weights lack {len(used)} of {type(model).__name__}'s, {used[0]} the first"
        raise Refusal(problem, "give the checkpoint of the whole model, its head included")


def _head_of(config: Any, task: str) -> str:
    """The auto class for a task, where the folder's own architecture is the one that it makes."""
    if task not in _HEADS:
        raise Refusal(f"transformers has no model for {task}", f"use --task {' or '.join(_HEADS)}")
    kind = _HEADS[task]
    named = (getattr(config, "architectures", None) or [None])[0]
    fitting = _class_names(kind, config)
    if not fitting:
        raise Refusal(f"a {config.model_type} model does not serve {task}", "choose another --task or checkpoint")
    if task == "embedding":
        for pretraining in _PRETRAINING:
            fitting |= _class_names(pretraining, config)
    if named is None or named in fitting:
        return kind
    others = [name for name, auto in _HEADS.items() if named in _class_names(auto, config)]
    remedy = f"use --task {' or '.join(others)}" if others else "give a checkpoint with a head for this task"
    raise Refusal(f"{named} does not serve {task}", remedy)


def _class_names(kind: str, config: Any) -> set[str]:
    found = getattr(transformers, kind)._model_mapping.get(type(config), ())
    return {entry.__name__ for entry in (found if isinstance(found, (tuple, list)) else (found,))}


def _require_all_used(model: Any, unused: list[str]) -> None:
    if unused:
        problem = f"{len(unused)} weights of the file are not used by {type(model).__name__}, {unused[0]} the first"
        raise Refusal(problem, "give the checkpoint in the architecture that it was trained in, or take them out")


def _pretraining_weights(config: Any) -> set[str]:
    """Names of the weights of the heads that this kind of encoder is pretrained with."""
    names: set[str] = set()
    for kind in _PRETRAINING:
        mapping = getattr(transformers, kind)._model_mapping
        if type(config) in mapping:
            with torch.device("meta"):
                whole = getattr(transformers, kind).from_config(config)
            base = f"{whole.base_model_prefix}."
            names |= {name for name in (*whole.state_dict(), *dict(whole.named_buffers())) if not name.startswith(base)}
    return names


def _dtype_name() -> str:
    return "dtype" if int(transformers.__version__.split(".")[0]) >= 5 else "torch_dtype"


def _reason(error: BaseException) -> str:
    """What a loading error says that a reader can act on: the shapes that disagree, else its first line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "mismatch" in line or "shape" in line), gist(error))[:300]


def takes(model: Any, name: str) -> bool:
    """Whether the model's forward pass has an argument of that name."""
    return name in inspect.signature(model.forward).parameters


def module_folder(folder: str, path: str) -> str:
    """The folder of one module of a sentence-transformers checkpoint."""
    return str(Path(folder) / path) if path else folder
