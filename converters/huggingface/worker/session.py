"""One opened folder, and what may be asked of it."""

from __future__ import annotations

import contextlib
import importlib.metadata
from typing import Any

import numpy as np
import torch
import transformers

from . import answers, causal, graph, loading, sentence, tokens
from .heads import LogitsHead, PooledEncoder, SentenceEncoder
from .refusal import Refusal, gist

_PROBE_TOKENS = 5
_LONGEST = 512
"""Where neither tokenizer nor config says how long a row may be: the positions of nearly every BERT-like model."""
_PAIRS = ("text-pair-classification", "reranking")
_INPUTS = ("input_ids", "token_type_ids", "attention_mask")


class Session:
    """Answers the calls of the protocol; see `loop`."""

    def __init__(self) -> None:
        self.opened: OpenedFolder | causal.OpenedCausalModel | None = None

    def reply(self, call: str, arguments: dict[str, Any]) -> Any:
        """The libraries' versions, the facts of a folder that is opened, or what that folder's public methods give."""
        if call == "versions":
            return versions()
        if call == "open":
            self.opened = OpenedFolder(**arguments)
            return self.opened.facts()
        if call == "open_causal":
            self.opened = causal.OpenedCausalModel(**arguments)
            return self.opened.facts()
        return getattr(self.opened, call)(**arguments)


def versions() -> dict[str, str]:
    """The libraries that answer."""
    found = {"torch": torch.__version__, "transformers": transformers.__version__}
    with contextlib.suppress(ImportError):
        import sentence_transformers

        found["sentence-transformers"] = sentence_transformers.__version__
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        found["optimum-intel"] = importlib.metadata.version("optimum-intel")
    return found


class OpenedFolder:
    """A folder that is loaded for one task.

    Raises:
        Refusal: it cannot be served for this task as its own library would answer.
    """

    def __init__(self, folder: str, task: str, pooling: str | None, prompt: str | None) -> None:
        loading.require_safe_libraries()
        self.task, self.pooling = task, pooling
        self.is_sentences = task == "embedding" and sentence.is_sentence_folder(folder)
        path = sentence.transformer_path(folder) if self.is_sentences else ""
        encoder = loading.module_folder(folder, path)
        self.config = loading.load_config(encoder)
        self.model, missing = loading.load_model(encoder, self.config, task)
        self.tokenizer = loading.load_tokenizer(encoder)
        self.sentences: Any = None
        self.prompt, self.prompt_tokens = "", 0
        if self.is_sentences:
            self._load_sentences(folder, prompt)
        elif prompt is not None:
            raise Refusal("has no prompts (no modules.json)", "leave --prompt away")
        self.inputs = self._inputs()
        self.rows = int(self.model.get_input_embeddings().num_embeddings)
        self.pad = self._pad_token_id()
        self.longest = self._longest()
        self.activation = self._activation(folder)
        self.served = self._served()
        probe = self._call(self._probe(1, _PROBE_TOKENS))
        loading.require_needed_weights(probe, self.model, missing)
        self.width = int(probe.shape[-1])

    def tokenize(self, texts: list[str], pairs: list[str] | None, max_length: int) -> dict[str, Any]:
        """Ids and type ids, as the library makes them of texts: prompt, stripping and lower-casing included."""
        if not self.is_sentences:
            return tokens.encode(self.tokenizer, texts, pairs, max_length)
        self.sentences.max_seq_length = max_length
        rows = self.sentences.tokenize([self.prompt + text for text in texts])
        kept = [mask.bool() for mask in rows["attention_mask"]]
        ids = [row[mask].tolist() for row, mask in zip(rows["input_ids"], kept)]
        return {"ids": ids, "type_ids": [[0] * len(row) for row in ids]}

    def offsets(self, texts: list[str], max_length: int) -> list[Any]:
        """See `tokens.offsets`."""
        return tokens.offsets(self.tokenizer, texts, max_length)

    def write_tokenizer(self, path: str) -> None:
        """See `tokens.save`."""
        tokens.save(self.tokenizer, path)

    def forward(self, input_ids: list[list[int]], token_type_ids: list[list[int]]) -> np.ndarray[Any, Any]:
        """What is served of the model, for rows of equal length without padding: FP32."""
        ids = torch.tensor(input_ids)
        made = {
            "input_ids": ids,
            "token_type_ids": torch.tensor(token_type_ids),
            "attention_mask": torch.ones_like(ids),
        }
        with torch.no_grad():
            return self._array(self.served(*(made[name] for name in self.inputs)))

    def write_onnx(self, path: str, exporter: str) -> None:
        """See `graph.write`."""
        graph.write(self.served, self.inputs, path, exporter, self._any_token())

    def answer(self, texts: list[str], pairs: list[str] | None, max_length: int) -> np.ndarray[Any, Any] | None:
        """What the library itself answers, one row a text; None for a task whose answers are not numbers.

        Scores [rows, labels], relevance [rows] or [rows, 2], or vectors [rows, dimension] not scaled to length 1 unless
        the folder's own modules do it.
        """
        if self.task == "embedding":
            return self._vectors(texts, max_length)
        if self.task == "reranking" and self.sentences is not None:
            assert pairs is not None
            self.sentences.tokenizer.model_max_length = max_length
            return answers.relevance(self.sentences, texts, pairs)
        if self.task in ("text-classification", "text-pair-classification"):
            return answers.classification_scores(self.model, self.tokenizer, texts, pairs, max_length)
        return None

    def _vectors(self, texts: list[str], max_length: int) -> np.ndarray[Any, Any]:
        if self.is_sentences:
            self.sentences.max_seq_length = max_length
            return np.asarray(self.sentences.encode(texts, prompt=self.prompt or None, show_progress_bar=False))
        if self.pooling == "pooler":
            outputs = [self._asked(text, max_length).pooler_output[0] for text in texts]
            return np.stack([self._array(vector) for vector in outputs])
        states = (self._array(self._asked(text, max_length).last_hidden_state[0]) for text in texts)
        return np.stack([answers.pooled(rows, str(self.pooling)) for rows in states])

    def _asked(self, text: str, max_length: int) -> Any:
        with torch.no_grad():
            return self.model(**self.tokenizer(text, truncation=True, max_length=max_length, return_tensors="pt"))

    def _load_sentences(self, folder: str, prompt: str | None) -> None:
        self.sentences = sentence.load(folder)
        if self.pooling:
            sentence.set_pooling(self.sentences, self.pooling)
        self.tokenizer = self.sentences.tokenizer
        self.model = self.sentences[0].auto_model
        self.prompt = sentence.prompt_of(self.sentences, prompt)
        self.prompt_tokens = sentence.prompt_tokens(self.sentences, self.prompt)

    def _inputs(self) -> list[str]:
        if not loading.takes(self.model, "attention_mask"):
            problem = f"{type(self.model).__name__} takes no attention mask, so padding would change its answers"
            raise Refusal(problem, "serve another architecture")
        has_table = getattr(self.config, "type_vocab_size", 1) != 0  # DeBERTa takes type ids that it has no table for
        has_types = has_table and tokens.gives_types(self.tokenizer) and loading.takes(self.model, "token_type_ids")
        return [name for name in _INPUTS if name != "token_type_ids" or has_types]

    def _activation(self, folder: str) -> str:
        """How the library makes scores of this head's logits."""
        if self.task == "reranking":
            return self._cross_encoder_activation(folder)
        if self.task in ("text-classification", "text-pair-classification"):
            return answers.activation_of(self.model, self.tokenizer, self.longest)
        return "sigmoid" if self.task == "multi-label-classification" else "softmax"

    def _cross_encoder_activation(self, folder: str) -> str:
        """The CrossEncoder's own: the usual ones are the postprocess step's, any other becomes a part of the graph."""
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise Refusal("is judged by sentence-transformers, as a CrossEncoder", sentence.INSTALL) from error
        named = {"attn_implementation": "eager", "torch_dtype": torch.float32}
        try:
            self.sentences = CrossEncoder(folder, device="cpu", local_files_only=True, model_kwargs=named)
        except Exception as error:
            problem = f"sentence-transformers does not load it as a CrossEncoder ({gist(error)})"
            raise Refusal(problem, "save it again with CrossEncoder.save_pretrained") from error
        self.model = self.sentences.model.eval()
        kind = type(self.sentences.activation_fn).__name__
        return {"Sigmoid": "sigmoid", "Identity": "identity"}.get(kind, "")

    def _served(self) -> Any:
        if self.is_sentences:
            parts = list(self.sentences)
            if type(parts[-1]).__name__ == "Normalize":
                parts.pop()  # the postprocess step scales, after it has merged a long text's windows
            return SentenceEncoder(parts, self.inputs, self.prompt_tokens).eval()
        if self.task == "embedding":
            if self.pooling is None:
                raise Refusal(
                    "does not say how to pool (no modules.json)", "use --pooling cls, mean, max, pooler or another"
                )
            return PooledEncoder(self.model, self.inputs, self.pooling).eval()
        is_odd = self.task == "reranking" and not self.activation
        return LogitsHead(self.model, self.inputs, self.sentences.activation_fn if is_odd else None).eval()

    def _call(self, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        try:
            result: torch.Tensor = self.served(*(tensors[name] for name in self.inputs))
        except Refusal:
            raise
        except Exception as error:
            problem = f"its model does not run ({type(error).__name__}: {gist(error)})"
            raise Refusal(problem, "mend config.json") from error
        return result

    def _probe(self, rows: int, length: int) -> dict[str, torch.Tensor]:
        ids = torch.full((rows, length), self._any_token(), dtype=torch.int64)
        return {"input_ids": ids, "token_type_ids": torch.zeros_like(ids), "attention_mask": torch.ones_like(ids)}

    def _any_token(self) -> int:
        return (self.pad + 1) % self.rows

    def _pad_token_id(self) -> int:
        """What rows are padded with. The mask tells padding from tokens, so that any row of the table would do."""
        pad = self.tokenizer.pad_token_id
        return int(pad) if pad is not None and pad < self.rows else 0

    def _longest(self) -> int:
        """The longest row that tokenizer and model take; a table of positions that ends earlier is found by asking."""
        own = self.sentences.max_seq_length if self.is_sentences else None
        positions = getattr(self.config, "max_position_embeddings", None)
        limits = [tokens.limit_of(self.tokenizer), own, positions]
        wanted = min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=_LONGEST)
        if self._takes(wanted):
            return wanted
        fits, fails = 1, wanted
        while fails - fits > 1:
            middle = (fits + fails) // 2
            fits, fails = (middle, fails) if self._takes(middle) else (fits, middle)
        return fits

    def _takes(self, length: int) -> bool:
        """Whether the model has so many positions, by its embeddings alone where these can be asked."""
        base = getattr(self.model, self.model.base_model_prefix or "", self.model)
        embeddings = getattr(base, "embeddings", None)
        ask = embeddings if embeddings is not None and loading.takes(embeddings, "input_ids") else self.model
        try:
            with torch.no_grad():
                ask(input_ids=torch.full((1, length), self._any_token(), dtype=torch.int64))
        except (IndexError, RuntimeError, ValueError):
            return False
        return True

    def facts(self) -> dict[str, Any]:
        """All that an export must know of it."""
        config, token = self.model.config, tokens.highest_id(self.tokenizer)
        modules = list(self.sentences) if self.is_sentences else []
        return {
            "architecture": type(self.model).__name__,
            "width": self.width,
            "labels": [config.id2label.get(i) for i in range(self.width)] if self.task != "embedding" else [],
            "activation": self.activation or "identity",
            "is_normalized": bool(modules) and type(modules[-1]).__name__ == "Normalize",
            "graph_inputs": self.inputs,
            "pad_token_id": self.pad,
            "longest": self.longest,
            "truncation_side": self.tokenizer.truncation_side,
            "special_tokens": [str(word) for word in self.tokenizer.all_special_tokens],
            "token_rows": self.rows,
            "type_rows": int(getattr(config, "type_vocab_size", 0) or 0) if "token_type_ids" in self.inputs else 0,
            "highest_token": token,
            "prompt": self.prompt,
            "prompts": dict(self.sentences.prompts) if self.is_sentences else {},
            "prompt_tokens": self.prompt_tokens,
            "is_stripped": self.is_sentences,
            "is_lowered": self.is_sentences and bool(self.sentences[0].do_lower_case),
        }

    @staticmethod
    def _array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
        return np.asarray(tensor.detach().float().numpy())
