"""Causal language models that `save_pretrained` wrote, loaded, converted and judged by Hugging Face's own library."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from converters.generation.sources.base import (
    OPENVINO_FILES,
    CausalSource,
    CausalTraits,
    Continuation,
    Logits,
    Message,
)
from converters.huggingface.interpreter import find_interpreter
from converters.huggingface.process import Worker
from converters.sources import checkpoint
from text_runtime.facts import SourceFacts

_DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}


class HuggingFaceCausalSource(CausalSource):
    """A folder behind a process that speaks for its library. See `CausalSource`."""

    def __init__(self, folder: Path, python: Path | None) -> None:
        checkpoint.read_json(folder / "config.json")
        weights = checkpoint.checked_weights(folder)
        self._worker = Worker(find_interpreter(python), folder)
        found = self._worker.call("open_causal", folder=str(folder.absolute()))
        hashes = checkpoint.hashes_of(folder, *weights)
        self.facts = SourceFacts("huggingface", folder.name, found["architecture"], hashes, self._worker.versions)
        self.traits = CausalTraits(
            found["context_length"],
            found["token_rows"],
            tuple(found["end_ids"]),
            found["begin_id"],
            found["chat_template"],
            tuple(found["special_tokens"]),
            found["named_tokens"],
        )

    def write_model(self, folder: Path) -> None:
        """See the base class."""
        with tempfile.TemporaryDirectory(dir=folder, prefix=".converting-") as scratch:
            self._worker.call("write_openvino", folder=scratch)
            for name in OPENVINO_FILES:
                shutil.move(Path(scratch) / name, folder / name)

    def write_tokenizer(self, path: Path) -> None:
        """See the base class."""
        self._worker.call("write_tokenizer", path=str(path.absolute()))

    def write_checkpoint(self, folder: Path, precision: str) -> None:
        """See the base class."""
        self._worker.call("write_checkpoint", folder=str(folder.absolute()), dtype=_DTYPES[precision])

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """See the base class."""
        ids: list[list[int]] = self._worker.call("tokenize", texts=list(texts))
        return ids

    def render_chat(self, messages: Sequence[Message]) -> str:
        """See the base class."""
        prompt: str = self._worker.call("render_chat", messages=[dict(each) for each in messages])
        return prompt

    def logits(self, ids: Sequence[int]) -> Logits:
        """See the base class."""
        found: Logits = self._worker.call("logits", ids=list(ids))
        return found

    def continue_greedily(self, ids: Sequence[int], new_tokens: int) -> Continuation:
        """See the base class."""
        found = self._worker.call("continue_greedily", ids=list(ids), new_tokens=new_tokens)
        return Continuation(tuple(found["ids"]), tuple(found["margins"]))

    def close(self) -> None:
        """See the base class."""
        self._worker.close()
