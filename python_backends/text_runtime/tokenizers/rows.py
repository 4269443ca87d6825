"""The tokenizer step: a pipeline's inputs of many requests in, each request's tensors out."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from text_runtime.facts import TokenizerFacts
from text_runtime.tasks.base import Tensors
from text_runtime.tasks.schema import half_width, parse_schema
from text_runtime.tensors import (
    ATTENTION_MASK,
    INPUT_IDS,
    LENGTHS,
    NEW_TOKENS,
    SCHEMA,
    SPANS,
    TEXT,
    TEXT_PAIR,
    TOKEN_TYPE_IDS,
    TRUNCATED_CHARS,
    TensorSpec,
)
from text_runtime.tokenizers.prompt_tokenizer import PromptTokenizer
from text_runtime.tokenizers.texts import read_texts
from text_runtime.tokenizers.tokenizer import TextTokenizer
from text_runtime.tokenizers.windows import TokenizedRow, pad_rows, pad_spans

Columns = dict[str, list[Any]]
"""One request's inputs by name, read: texts, and for a schema the prompts of its first level."""

_PROMPT = "prompt"
"""The column of the prompts that requests have chosen; it is no input of the contract."""

_Encode = Callable[[Columns], list[TokenizedRow]]


class RowTokenizer:
    """Tokenizes for any task: which inputs it has and which tensors are wanted stand in its contract."""

    def __init__(
        self, folder: Path, facts: TokenizerFacts, inputs: Sequence[TensorSpec], outputs: Sequence[str]
    ) -> None:
        self._outputs = outputs
        self._pad = facts.pad_token_id
        self._preparation = facts.preparation
        self._encode = _encoder(folder, facts, inputs, SPANS.name in outputs)

    def read(self, tensors: Tensors, prompt_name: str | None = None) -> Columns:
        """Read one request; `prompt_name` names the prompt that it wants in front of its texts.

        Raises:
            ValueError: a row is not UTF-8, or not a schema; the message names the input and the row. Or the release has
                no such prompt.
        """
        columns: Columns = {name: list(read_texts(name, values)) for name, values in tensors.items()}
        prompt = None if prompt_name is None else self._preparation.prompt_named(prompt_name)
        if self._preparation.prompts:
            columns[_PROMPT] = [prompt] * len(columns[TEXT.name])
        if SCHEMA.name in columns:
            columns[SCHEMA.name] = [_names(row, schema) for row, schema in enumerate(columns[SCHEMA.name])]
        return columns

    def encode(self, requests: Sequence[Columns]) -> Iterator[Tensors]:
        """Tokenize all requests in one call; gives the tensors of each, in order."""
        together = {name: [value for columns in requests for value in columns[name]] for name in requests[0]}
        rows = iter(self._encode(together))
        for columns in requests:
            yield self._tensors([next(rows) for _ in columns[TEXT.name]])

    def _tensors(self, rows: Sequence[TokenizedRow]) -> Tensors:
        return {name: _TENSORS[name](rows, self._pad) for name in self._outputs}


def _encoder(folder: Path, facts: TokenizerFacts, inputs: Sequence[TensorSpec], has_spans: bool) -> _Encode:
    if SCHEMA in inputs:
        prompts = PromptTokenizer(folder, facts)
        return lambda columns: prompts.encode(columns[TEXT.name], columns[SCHEMA.name])
    texts = TextTokenizer(folder, facts, has_spans)
    return lambda columns: texts.encode(columns[TEXT.name], columns.get(TEXT_PAIR.name), columns.get(_PROMPT))


def _names(row: int, schema: str) -> list[str]:
    try:
        return [half_width(prompt.name) for prompt in parse_schema(schema)]
    except ValueError as error:
        raise ValueError(f"input '{SCHEMA.name}', row {row}: {error}") from error


def _small(rows: Sequence[Sequence[int]]) -> npt.NDArray[Any]:
    return pad_rows(rows, 0, np.int32)


_TENSORS: dict[str, Callable[[Sequence[TokenizedRow], int], npt.NDArray[Any]]] = {
    INPUT_IDS.name: lambda rows, pad: pad_rows([row.ids for row in rows], pad),
    TOKEN_TYPE_IDS.name: lambda rows, _: pad_rows([row.type_ids for row in rows], 0),
    ATTENTION_MASK.name: lambda rows, _: pad_rows([[1] * len(row.ids) for row in rows], 0),
    LENGTHS.name: lambda rows, _: _small([row.lengths for row in rows]),
    NEW_TOKENS.name: lambda rows, _: _small([row.new_tokens for row in rows]),
    SPANS.name: lambda rows, _: pad_spans([row.spans for row in rows]),
    TRUNCATED_CHARS.name: lambda rows, _: _small([[row.truncated_chars] for row in rows]),
}
