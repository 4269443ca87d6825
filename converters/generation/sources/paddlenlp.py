"""PaddleNLP's causal language models, written in Hugging Face's layout by PaddleNLP's own table of names.

From there the way is the same as for any Hugging Face folder. The truth stays PaddleNLP's: its tokenizer, its forward
pass, and its answers.
"""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from converters import paddle_runtime
from converters.generation.greedy import greedily
from converters.generation.sources.base import CausalSource, Continuation, Logits, Message
from converters.generation.sources.huggingface import HuggingFaceCausalSource
from converters.limits import relative_difference
from converters.sources import checkpoint
from text_runtime.facts import SourceFacts
from trireme.errors import CheckpointError, UnsupportedError

_ARCHITECTURES = ("LlamaForCausalLM", "Qwen2ForCausalLM")
_CONFIG = (
    "model_type",
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "hidden_act",
    "max_position_embeddings",
    "rms_norm_eps",
    "rope_theta",
    "rope_scaling",
    "tie_word_embeddings",
    "use_sliding_window",
    "sliding_window",
    "max_window_layers",
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
)
"""What both libraries know by the same name and in the same sense."""
_ONLY_HERE = {
    "fuse_attention_qkv": (False, None),
    "fuse_attention_ffn": (False, None),
    "alibi": (False, None),
    "rope_scaling_type": (None,),
    "use_long_sequence_strategies": (False, None),
}
"""What Hugging Face's architectures have no word for, and the values that change nothing."""
_SENTENCEPIECE, _ITS_NAME_THERE = "sentencepiece.bpe.model", "tokenizer.model"
_PROBE_TOKENS = 16
_CLOSE = 1e-4


class PaddleNlpCausalSource(CausalSource):
    """See `CausalSource`."""

    def __init__(self, folder: Path, python: Path | None) -> None:
        architecture = _architecture(folder)
        weights = checkpoint.weights_of(folder)
        self._folder = folder
        self._scratch = tempfile.TemporaryDirectory(prefix="trireme-paddlenlp-")
        try:
            scratch = Path(self._scratch.name)
            copy = checkpoint.copy_of(folder, scratch / "own", *weights)
            self._model, missing, unused = paddle_runtime.load_model(copy, folder, architecture, "float32")
            _require_weights(folder, self._model, missing, unused)
            self._tokenizer = paddle_runtime.load_tokenizer(copy, folder)
            written = checkpoint.copy_of(folder, scratch / "layout")
            _write_layout(folder, self._model, architecture, written)
            self._layout = HuggingFaceCausalSource(written, python)
        except BaseException:
            self._scratch.cleanup()
            raise
        self.traits = self._layout.traits
        hashes = checkpoint.hashes_of(folder, *weights)
        self.facts = SourceFacts("paddlenlp", folder.name, architecture, hashes, self._layout.facts.libraries)
        self._require_same_model()

    def write_model(self, folder: Path) -> None:
        """See the base class."""
        self._layout.write_model(folder)

    def write_tokenizer(self, path: Path) -> None:
        """See the base class. PaddleNLP takes blanks away around a special token, unless the token says otherwise."""
        self._layout.write_tokenizer(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        told = {str(word): word for word in self._tokenizer.all_special_tokens_extended if not isinstance(word, str)}
        for token in content["added_tokens"]:
            own = told.get(token["content"])
            token["lstrip"], token["rstrip"] = (True, True) if own is None else (own.lstrip, own.rstrip)
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")

    def write_checkpoint(self, folder: Path, precision: str) -> None:
        """See the base class."""
        self._layout.write_checkpoint(folder, precision)

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """See the base class."""
        return [list(self._tokenizer(text)["input_ids"]) if text else self._around() for text in texts]

    def render_chat(self, messages: Sequence[Message]) -> str:
        """See the base class."""
        try:
            prompt: str = self._tokenizer.apply_chat_template([dict(each) for each in messages], tokenize=False)
        except Exception as error:  # a template raises what it likes
            problem = f"its chat template refuses the conversation ({paddle_runtime.gist(error)})"
            raise CheckpointError(self._folder, problem, "ask it with texts alone") from error
        return prompt

    def logits(self, ids: Sequence[int]) -> Logits:
        """See the base class."""
        found: Logits = paddle_runtime.forward(self._model, [np.array([ids], dtype=np.int64)])[0]
        return found

    def continue_greedily(self, ids: Sequence[int], new_tokens: int) -> Continuation:
        """See the base class. Every token is a forward pass over all before it."""
        return greedily(lambda found: self.logits([*ids, *found])[-1], new_tokens, self.traits.end_ids)

    def close(self) -> None:
        """See the base class."""
        self._layout.close()
        self._scratch.cleanup()

    def _around(self) -> list[int]:
        """What stands before every text; PaddleNLP fails with an empty one."""
        return [] if self.traits.begin_id is None else [self.traits.begin_id]

    def _require_same_model(self) -> None:
        """Refuse a layout in which Hugging Face's library reads another model."""
        ids = [(7 * place + 3) % self.traits.token_rows for place in range(_PROBE_TOKENS)]
        difference = relative_difference(self._layout.logits(ids), self.logits(ids))
        if difference > _CLOSE:
            self.close()
            problem = f"in Hugging Face's layout it answers otherwise (logits differ by {difference:.1e})"
            raise CheckpointError(self._folder, problem, "report it, with config.json")


def _architecture(folder: Path) -> str:
    config = checkpoint.read_json(folder / "config.json")
    name = (config.get("architectures") or [config.get("init_class")])[0]
    if name not in _ARCHITECTURES:
        raise UnsupportedError("PaddleNLP architecture that writes", str(name), list(_ARCHITECTURES))
    for key, harmless in _ONLY_HERE.items():
        if config.get(key) not in harmless:
            problem = f"config.json has {key}, which Hugging Face's {name} does not know"
            raise CheckpointError(folder, problem, "save the model without it")
    return str(name)


def _require_weights(folder: Path, model: Any, missing: Sequence[str], unused: Sequence[str]) -> None:
    name = type(model).__name__
    lost = [key for key in missing if not (model.config.tie_word_embeddings and key.startswith("lm_head."))]
    checkpoint.require_complete(folder, name, lost)
    checkpoint.require_used(folder, name, unused)


def _write_layout(folder: Path, model: Any, architecture: str, target: Path) -> None:
    """Make a copy of the small files what Hugging Face's `save_pretrained` would write: config, weights, tokenizer."""
    from safetensors.numpy import save_file

    if (target / _SENTENCEPIECE).exists():
        (target / _SENTENCEPIECE).rename(target / _ITS_NAME_THERE)
    _mark_sentencepiece(target / "tokenizer_config.json")
    config = {key: getattr(model.config, key) for key in _CONFIG if getattr(model.config, key, None) is not None}
    content = config | {"architectures": [architecture], "torch_dtype": "float32"}
    (target / "config.json").write_text(json.dumps(content), encoding="utf-8")
    end = getattr(model.generation_config, "eos_token_id", None)
    ends = {} if end is None else {"eos_token_id": end}
    (target / "generation_config.json").write_text(json.dumps(ends), encoding="utf-8")
    save_file(_renamed(folder, model), target / checkpoint.SAFETENSORS, {"format": "pt"})
    for index in target.glob("*.index.json"):
        index.unlink()


def _mark_sentencepiece(path: Path) -> None:
    """Say how PaddleNLP reads a SentencePiece model: every stretch between special tokens begins with a blank."""
    settings = checkpoint.read_json(path)
    if str(settings.get("tokenizer_class", "")).startswith("Llama"):
        path.write_text(json.dumps(settings | {"legacy": True, "add_prefix_space": True}), encoding="utf-8")


def _renamed(folder: Path, model: Any) -> dict[str, Any]:
    """The weights under Hugging Face's names, matrices the way torch has them."""
    model.config.architectures = [type(model).__name__]  # which its table of names asks for
    weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    tensors = {}
    for entry in type(model)._get_name_mappings(model.config):
        if entry.target_name in weights:
            weight = weights.pop(entry.target_name)
            tensors[entry.source_name] = (weight.T if entry.should_transpose() else weight).copy()
    if weights:
        problem = f"PaddleNLP's table of names lacks {len(weights)} of its weights, {next(iter(weights))} the first"
        raise CheckpointError(folder, problem, "report it, with config.json")
    return tensors
