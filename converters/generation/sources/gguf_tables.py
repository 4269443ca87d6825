"""What a GGUF file says of its model beside the weights."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trireme.errors import CheckpointError, MissingLibraryError

_MAGIC = b"GGUF"
_CONTROL = 3
_REMEDY = "convert the checkpoint again, with a current llama.cpp"


@dataclass(frozen=True)
class GgufTables:
    """A model's facts, and its tokenizer's tables as GGUF spells them.

    `kinds` has one of GGUF's token types for each token. `precision` is that of most weights.
    """

    architecture: str
    context_length: int
    tokens: tuple[str, ...]
    kinds: tuple[int, ...]
    merges: tuple[str, ...]
    model: str
    pre_tokenizer: str
    begin_id: int | None
    end_id: int
    adds_begin: bool
    chat_template: str
    precision: str

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """Words that stand for no text."""
        pairs = zip(self.tokens, self.kinds, strict=True)
        return tuple(token for token, kind in pairs if kind == _CONTROL)

    @property
    def named_tokens(self) -> dict[str, str]:
        """Words that a chat template may name."""
        ids = {"bos_token": self.begin_id, "eos_token": self.end_id}
        return {name: self.tokens[index] for name, index in ids.items() if index is not None}


def read_tables(path: Path) -> GgufTables:
    """Read a file's tables.

    Raises:
        CheckpointError: it is no GGUF file, or one without what a model that writes needs.
        MissingLibraryError: `gguf` is not installed.
    """
    try:
        from gguf import GGUFReader
    except ImportError as error:
        raise MissingLibraryError("gguf", "convert") from error
    with path.open("rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise CheckpointError(path, "is no GGUF file", "fetch it again; of a git-lfs pointer run `git lfs pull`")
    try:
        reader = GGUFReader(path)
        fields = {name: field.contents() for name, field in reader.fields.items()}
        kinds = [tensor.tensor_type.name for tensor in reader.tensors if tensor.n_elements > 1 << 12]
        return _tables(fields, max(set(kinds), key=kinds.count, default="F32"))
    except KeyError as error:
        raise CheckpointError(path, f"says nothing of {error}", _REMEDY) from error
    except (ValueError, IndexError, OverflowError, TypeError) as error:
        raise CheckpointError(path, f"cannot be read as GGUF ({error})", _REMEDY) from error


def _tables(fields: dict[str, Any], stored: str) -> GgufTables:
    architecture = str(fields["general.architecture"])
    begin, has_begin = fields.get("tokenizer.ggml.bos_token_id"), fields.get("tokenizer.ggml.add_bos_token", False)
    return GgufTables(
        architecture=architecture,
        context_length=int(fields[f"{architecture}.context_length"]),
        tokens=tuple(fields["tokenizer.ggml.tokens"]),
        kinds=tuple(fields["tokenizer.ggml.token_type"]),
        merges=tuple(fields.get("tokenizer.ggml.merges", ())),
        model=str(fields["tokenizer.ggml.model"]),
        pre_tokenizer=str(fields.get("tokenizer.ggml.pre", "default")),
        begin_id=None if begin is None else int(begin),
        end_id=int(fields["tokenizer.ggml.eos_token_id"]),
        adds_begin=bool(has_begin),
        chat_template=str(fields.get("tokenizer.chat_template", "")),
        precision=_PRECISIONS.get(stored, "int4" if stored.startswith(("Q4", "IQ4")) else stored.lower()),
    )


_PRECISIONS = {"F32": "fp32", "F16": "fp16", "BF16": "bf16", "Q8_0": "int8"}
