"""Sentence-transformers folders: their modules, their prompts, and what they do to a text before the tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .refusal import Refusal, gist

MODULES = "modules.json"
INSTALL = "run `pip install sentence-transformers` in that interpreter, or name another with --python"
_LONG_NAMES = {"mean_sqrt_len": "mean_sqrt_len_tokens"}
_ALLOWED = ("Transformer", "Pooling", "Dense", "Normalize", "Dropout", "LayerNorm")
_TRUSTED = "sentence_transformers.models"
_PROMPT_NEEDS = "prompts stand in config_sentence_transformers.json"


def is_sentence_folder(folder: str) -> bool:
    """Whether sentence-transformers wrote it, and so says how an embedding is made."""
    return (Path(folder) / MODULES).is_file()


def transformer_path(folder: str) -> str:
    """Where in the folder the encoder is: `""` for the folder itself, or `0_Transformer`.

    Raises:
        Refusal: the modules are none that can be served.
    """
    entries = _entries(folder)
    kinds = [_kind(entry) for entry in entries]
    if kinds[0] != "Transformer":
        raise Refusal(f"modules.json begins with {kinds[0]}, not with a Transformer", "give an encoder's folder")
    if "Pooling" not in kinds:
        raise Refusal("modules.json has no Pooling", "save the model with a Pooling module")
    for entry in entries:
        _require_plain_activation(folder, entry)
    path = entries[0].get("path", "")
    if not isinstance(path, str) or path.startswith("/") or ".." in Path(path).parts:
        raise Refusal(f"modules.json names the path {path!r}, outside the folder", "name a folder inside")
    return path


def load(folder: str) -> Any:
    """The folder as sentence-transformers loads it, on the CPU in fp32.

    Raises:
        Refusal: the library is not installed, or refuses the folder.
    """
    try:
        import sentence_transformers
    except ImportError as error:
        raise Refusal("has modules.json, which only sentence-transformers can load", INSTALL) from error
    import torch

    named = {"attn_implementation": "eager", "torch_dtype": torch.float32}
    try:
        return sentence_transformers.SentenceTransformer(
            folder, device="cpu", trust_remote_code=False, local_files_only=True, model_kwargs=named
        ).eval()
    except Exception as error:
        problem = f"sentence-transformers does not load it ({gist(error)})"
        raise Refusal(problem, "save it again with SentenceTransformer.save_pretrained") from error


def set_pooling(model: Any, pooling: str) -> None:
    """Put the user's pooling in the place of the folder's own.

    Raises:
        Refusal: sentence-transformers has no such pooling.
    """
    from sentence_transformers.models import Pooling

    mode = _LONG_NAMES.get(pooling, pooling)
    if mode not in Pooling.POOLING_MODES:
        raise Refusal(f"sentence-transformers has no pooling '{pooling}'", "leave --pooling away")
    for name, part in model.named_children():
        if isinstance(part, Pooling):
            own = Pooling(part.word_embedding_dimension, pooling_mode=mode, include_prompt=part.include_prompt)
            model._modules[name] = own


def prompt_of(model: Any, name: str | None) -> str:
    """The prompt in front of every text: the one that is named, or the folder's default, or nothing.

    Raises:
        Refusal: there is no prompt of that name.
    """
    chosen = model.default_prompt_name if name is None else name
    if chosen is None:
        return ""
    if chosen not in model.prompts:
        known = ", ".join(sorted(model.prompts)) or "none"
        raise Refusal(f"has no prompt '{chosen}' (it has {known}); {_PROMPT_NEEDS}", "name another with --prompt")
    return str(model.prompts[chosen])


def prompt_tokens(model: Any, prompt: str) -> int:
    """How many tokens at the beginning of a row the pooling leaves out; 0 where the prompt counts like the text."""
    from sentence_transformers.models import Pooling

    if not prompt or all(part.include_prompt for part in model if isinstance(part, Pooling)):
        return 0
    return int(model._get_prompt_length(prompt))


def _entries(folder: str) -> list[dict[str, Any]]:
    try:
        entries = json.loads((Path(folder) / MODULES).read_text(encoding="utf-8"))
    except ValueError as error:
        raise Refusal(f"modules.json cannot be read ({gist(error)})", "save the model again") from error
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise Refusal("modules.json is not a list of modules", "save the model again")
    return entries


def _kind(entry: dict[str, Any]) -> str:
    """The module's class, one of sentence-transformers' own: any other would be code of the folder's choice."""
    kind = str(entry.get("type", ""))
    name = kind.rsplit(".", 1)[-1]
    if not kind.startswith(f"{_TRUSTED}.") or name not in _ALLOWED:
        raise Refusal(f"modules.json asks for {kind or 'no type'}", f"only these are known: {', '.join(_ALLOWED)}")
    return name


def _require_plain_activation(folder: str, entry: dict[str, Any]) -> None:
    path = Path(folder) / str(entry.get("path", "")) / "config.json"
    if _kind(entry) != "Dense" or not path.is_file():
        return
    activation = json.loads(path.read_text(encoding="utf-8")).get("activation_function", "torch.nn.Tanh")
    if not str(activation).startswith("torch.nn."):
        raise Refusal(f"{path.parent.name} asks for the activation {activation}", "use one of torch.nn")
