"""A causal language model's folder, and what may be asked of it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
import transformers

from . import loading, tokens
from .refusal import Refusal, gist

_LONGEST = 2048
"""Where neither config nor tokenizer says how long a text may be."""
_PROBE_TOKENS = 3


class OpenedCausalModel:
    """A folder that is loaded to write.

    Raises:
        Refusal: it holds no causal language model that can be served as its own library would answer.
    """

    def __init__(self, folder: str) -> None:
        loading.require_safe_libraries()
        self.config = loading.load_config(folder)
        self.model, missing = loading.load_causal_model(folder, self.config)
        self.tokenizer = loading.load_tokenizer(folder)
        self.rows = int(self.model.get_input_embeddings().num_embeddings)
        loading.require_needed_weights(self._probe(), self.model, missing)
        self.end_ids = self._end_ids()

    def facts(self) -> dict[str, Any]:
        """All that an export must know of it."""
        named = {name: word for name, word in self.tokenizer.special_tokens_map.items() if isinstance(word, str)}
        added = self.tokenizer.added_tokens_decoder.values()
        return {
            "architecture": type(self.model).__name__,
            "context_length": self._context_length(),
            "token_rows": self.rows,
            "end_ids": self.end_ids,
            "begin_id": self._begin_id(),
            "chat_template": self._chat_template(),
            "special_tokens": [token.content for token in added if token.special],
            "named_tokens": named,
        }

    def tokenize(self, texts: list[str]) -> list[list[int]]:
        """Ids of each text, and what the tokenizer puts before it; special tokens in a text are obeyed."""
        return [list(self.tokenizer(text).input_ids) for text in texts]

    def render_chat(self, messages: list[dict[str, str]]) -> str:
        """The prompt that the library makes of a conversation."""
        try:
            prompt: str = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # a template raises what it likes
            raise Refusal(f"its chat template refuses the conversation ({gist(error)})", "ask with texts") from error
        return prompt

    def logits(self, ids: list[int]) -> np.ndarray[Any, Any]:
        """One forward pass over a text: FP32 [tokens, token rows]."""
        with torch.no_grad():
            found = self.model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
        return np.asarray(found.float().numpy())

    def continue_greedily(self, ids: list[int], new_tokens: int) -> dict[str, Any]:
        """What `generate` adds to a prompt greedily, and at each token how far its logit is above the next."""
        settings = transformers.GenerationConfig(
            max_new_tokens=new_tokens,
            do_sample=False,
            eos_token_id=self.end_ids,
            pad_token_id=self.end_ids[0],
            return_dict_in_generate=True,
            output_logits=True,
        )
        prompt = torch.tensor([ids])
        self.model.generation_config = settings  # its own may ask for penalties, which a greedy answer has not
        with torch.no_grad():
            result = self.model.generate(prompt, attention_mask=torch.ones_like(prompt), generation_config=settings)
        found = result.sequences[0, len(ids) :].tolist()
        tops = [torch.topk(step[0].float(), 2).values.tolist() for step in result.logits]
        if found and found[-1] in self.end_ids:
            found = found[:-1]
        return {"ids": found, "margins": [first - second for first, second in tops[: len(found)]]}

    def write_tokenizer(self, path: str) -> None:
        """See `tokens.save`."""
        tokens.save(self.tokenizer, path)

    def write_openvino(self, folder: str) -> None:
        """Write OpenVINO's stateful graph in fp32, and its tokenizer and detokenizer, into an empty folder."""
        from optimum.exporters.openvino.convert import export_from_model, export_tokenizer
        from optimum.intel.openvino.configuration import OVConfig

        export_from_model(
            self.model, folder, task="text-generation-with-past", stateful=True, ov_config=OVConfig(dtype="fp32")
        )
        export_tokenizer(self.tokenizer, folder, task="text-generation-with-past")

    def write_checkpoint(self, folder: str, dtype: str) -> None:
        """Write config, safetensors in that dtype of torch's, and tokenizer."""
        model = self.model if dtype == "float32" else copy.deepcopy(self.model).to(getattr(torch, dtype))
        model.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)

    def _probe(self) -> torch.Tensor:
        try:
            logits: torch.Tensor = self.model(
                input_ids=torch.zeros((1, _PROBE_TOKENS), dtype=torch.int64), use_cache=False
            ).logits
        except Exception as error:
            problem = f"its model does not run ({type(error).__name__}: {gist(error)})"
            raise Refusal(problem, "mend config.json") from error
        return logits

    def _context_length(self) -> int:
        positions = getattr(self.config, "max_position_embeddings", None)
        if isinstance(positions, int) and positions > 0:
            return positions
        return tokens.limit_of(self.tokenizer) or _LONGEST

    def _end_ids(self) -> list[int]:
        """The tokens that end an answer, by the first of the files that names any."""
        for owner in (self.model.generation_config, self.config, self.tokenizer):
            found = owner.eos_token_id
            listed = found if isinstance(found, list) else [found]
            known = [token for token in listed if isinstance(token, int) and 0 <= token < self.rows]
            if known:
                return known
        raise Refusal("names no token that ends an answer (eos_token_id)", "write it into generation_config.json")

    def _begin_id(self) -> int | None:
        """What the tokenizer puts before a text."""
        around = self.tokenizer("").input_ids
        if not around:
            return None
        if len(around) > 1 or self.tokenizer("a").input_ids[0] != around[0]:
            problem = "its tokenizer puts more around a text than one token before it"
            raise Refusal(problem, "switch add_eos_token off in tokenizer_config.json")
        return int(around[0])

    def _chat_template(self) -> str:
        found = self.tokenizer.chat_template
        if isinstance(found, dict):
            found = found.get("default")
        return found or ""
