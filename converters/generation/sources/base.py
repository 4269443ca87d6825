"""What a causal language model offers: its files, and its own library's answers as the truth to compare with."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from text_runtime.facts import SourceFacts

Message = Mapping[str, str]
"""One turn of a conversation: `role` and `content`."""
Logits = npt.NDArray[np.float32]
OPENVINO_FILES = tuple(
    f"openvino_{part}.{suffix}" for part in ("model", "tokenizer", "detokenizer") for suffix in ("xml", "bin")
)


@dataclass(frozen=True)
class CausalTraits:
    """What a checkpoint says of its model.

    `context_length` counts tokens, prompt and answer together. `token_rows` are the rows of the table of embeddings: an
    id beyond them stands for nothing. `end_ids` end an answer. `begin_id` is what the tokenizer puts before a text,
    None where it puts nothing. `chat_template` is Jinja, empty where the checkpoint has none. `special_tokens` are the
    words that stand for no text. `named_tokens` are those that a chat template may name: `bos_token`, `eos_token`, and
    others.
    """

    context_length: int
    token_rows: int
    end_ids: tuple[int, ...]
    begin_id: int | None = None
    chat_template: str = ""
    special_tokens: tuple[str, ...] = ()
    named_tokens: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Continuation:
    """A greedy answer of the source's own library: its token ids, and at each how far its logit is above the next."""

    ids: tuple[int, ...]
    margins: tuple[float, ...]


class CausalSource(ABC):
    """An opened checkpoint of a causal language model. Close it when it is no longer asked anything."""

    facts: SourceFacts
    traits: CausalTraits
    stored_precision: str = ""
    """What the weights are in where they cannot be had in another precision; empty where they can."""

    @abstractmethod
    def write_model(self, folder: Path) -> None:
        """Write what OpenVINO GenAI reads.

        These are `OPENVINO_FILES`: the stateful graph in fp32, the tokenizer, and the detokenizer.

        Raises:
            CheckpointError: the model cannot be converted.
        """

    @abstractmethod
    def write_tokenizer(self, path: Path) -> None:
        """Write the `tokenizer.json` that should encode as the source does.

        Raises:
            CheckpointError: there is none that could.
        """

    @abstractmethod
    def write_checkpoint(self, folder: Path, precision: str) -> None:
        """Write the checkpoint in Hugging Face's layout (`config.json`, safetensors, tokenizer), as vLLM reads it.

        The weights are in `fp32`, `fp16` or `bf16`.

        Raises:
            CheckpointError: this kind of source has none.
        """

    @abstractmethod
    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Encode with the source's own tokenizer.

        Words such as `<|im_end|>` in a text become that special token, and what the tokenizer puts before a text is
        added.
        """

    @abstractmethod
    def render_chat(self, messages: Sequence[Message]) -> str:
        """The prompt that the source's own library makes of a conversation, ready for an answer.

        Raises:
            CheckpointError: it has no chat template, or the template refuses the conversation.
        """

    @abstractmethod
    def logits(self, ids: Sequence[int]) -> Logits:
        """The source's own forward pass in fp32 over one text: FP32 [tokens, token rows]."""

    @abstractmethod
    def continue_greedily(self, ids: Sequence[int], new_tokens: int) -> Continuation:
        """What the source's own library generates greedily after a prompt; it ends early at one of `end_ids`, which is
        not part of it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of processes and memory. Safe to call twice."""
