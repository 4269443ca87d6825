"""GGUF files, read by OpenVINO GenAI's own reader: no torch, and the weights stay as small as the file has them.

The tokenizer is made from the file's own tables a second time, as a `tokenizer.json`; OpenVINO's reading of the same
tables is what it is held against.
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from converters.generation.graph import CausalGraph
from converters.generation.sources.base import OPENVINO_FILES, CausalSource, CausalTraits, Continuation, Logits, Message
from converters.generation.sources.gguf_tables import read_tables
from converters.generation.sources.gguf_tokenizer import write_gguf_tokenizer
from converters.paddle_runtime import quiet
from text_runtime.facts import SourceFacts
from text_runtime.generation.engines import last_line
from text_runtime.manifest import sha256_of
from trireme.errors import CheckpointError, MissingLibraryError


class GgufSource(CausalSource):
    """See `CausalSource`. The truth is the graph that OpenVINO GenAI reads out of the file, in fp32."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tables = read_tables(path)
        self._scratch = tempfile.TemporaryDirectory(prefix="trireme-gguf-")
        self._folder = Path(self._scratch.name)
        self._tokenizer = _convert(path, self._folder)
        self._graph: CausalGraph | None = None
        tables = self._tables
        self.stored_precision = tables.precision
        self.facts = SourceFacts("gguf", path.name, tables.architecture, {path.name: sha256_of(path)})
        self.traits = CausalTraits(
            tables.context_length,
            len(tables.tokens),
            (tables.end_id,),
            tables.begin_id if tables.adds_begin else None,
            tables.chat_template,
            tables.special_tokens,
            tables.named_tokens,
        )

    def write_model(self, folder: Path) -> None:
        """See the base class."""
        for name in OPENVINO_FILES:
            shutil.copy(self._folder / name, folder / name)

    def write_tokenizer(self, path: Path) -> None:
        """See the base class."""
        write_gguf_tokenizer(self._tables, path, self._path)

    def write_checkpoint(self, folder: Path, precision: str) -> None:
        """See the base class."""
        problem = "a GGUF file is no checkpoint in Hugging Face's layout, which this engine reads"
        raise CheckpointError(
            self._path, problem, "export the checkpoint that it was made of, or choose another engine"
        )

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """See the base class."""
        begin = [] if self.traits.begin_id is None else [self.traits.begin_id]
        return [begin + self._encode(text) for text in texts]

    def render_chat(self, messages: Sequence[Message]) -> str:
        """See the base class."""
        try:
            prompt: str = self._tokenizer.apply_chat_template([dict(each) for each in messages], True)
        except RuntimeError as error:
            problem = f"its chat template refuses the conversation ({last_line(error)})"
            raise CheckpointError(self._path, problem, "ask it with texts alone") from error
        return prompt

    def logits(self, ids: Sequence[int]) -> Logits:
        """See the base class."""
        return self._opened_graph().logits(ids)

    def continue_greedily(self, ids: Sequence[int], new_tokens: int) -> Continuation:
        """See the base class."""
        return self._opened_graph().continue_greedily(ids, new_tokens, self.traits.end_ids)

    def close(self) -> None:
        """See the base class."""
        self._graph = None
        self._scratch.cleanup()

    def _encode(self, text: str) -> list[int]:
        if not text:
            return []
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).input_ids.data[0].tolist()
        return ids

    def _opened_graph(self) -> CausalGraph:
        if self._graph is None:
            self._graph = CausalGraph(self._folder)
        return self._graph


def open_gguf(path: Path) -> GgufSource:
    """Open a GGUF file.

    Raises:
        CheckpointError: it is none, or of an architecture or a tokenizer that is not known.
        MissingLibraryError: OpenVINO GenAI is not installed.
    """
    return GgufSource(path)


def _convert(path: Path, folder: Path) -> Any:
    """Write the graph and the tokenizer into a folder; gives OpenVINO's tokenizer.

    OpenVINO writes beside the file that it reads, so it reads a link in the folder.
    """
    try:
        import openvino_genai
    except ImportError as error:
        raise MissingLibraryError("openvino-genai", "generation") from error
    link = folder / "model.gguf"
    link.symlink_to(path.absolute())
    try:
        with quiet():
            openvino_genai.LLMPipeline(str(link), "CPU", enable_save_ov_model=True)
            return openvino_genai.Tokenizer(str(folder))
    except RuntimeError as error:
        problem = f"OpenVINO GenAI does not read it ({last_line(error)})"
        raise CheckpointError(path, problem, "export the checkpoint that it was made of") from error
