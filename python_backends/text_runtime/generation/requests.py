"""One request as a caller sent it, read out of its tensors."""

import json
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from text_runtime.generation.prompt import Prompt, PromptReader
from text_runtime.generation.sampling import SamplingParameters, read_sampling
from text_runtime.generation.tensors import (
    BAD_WORDS,
    EXCLUDE_INPUT,
    MESSAGES,
    RESPONSE_FORMAT,
    RETURN_LOGPROBS,
    SAMPLING_PARAMETERS,
    STOP_WORDS,
    STREAM,
    TEXT_INPUT,
)

Values = dict[str, npt.NDArray[Any]]
"""The inputs that a request has, by name."""

MOST_PROMPT_BYTES = 4 << 20
MOST_SCHEMA_BYTES = 64 << 10


@dataclass(frozen=True)
class Asked:
    """What is asked: a prompt, how to choose the answer's tokens, and in which form it is to come.

    `schema` is a JSON schema, empty for none. `prefix` stands before an answer that comes in one piece.
    """

    prompt: Prompt
    sampling: SamplingParameters
    is_streamed: bool = False
    schema: str = ""
    prefix: str = ""


def read_request(values: Values, parameters: dict[str, Any], reader: PromptReader) -> Asked:
    """Read a request.

    Args:
        values: its inputs.
        parameters: its own parameters, among which some clients send sampling parameters.
        reader: reads its prompt.

    Raises:
        ValueError: it cannot be answered; says why.
    """
    sampling = read_sampling(_text(values, SAMPLING_PARAMETERS.name), parameters)
    if _flag(values, RETURN_LOGPROBS.name):
        sampling = msgspec.structs.replace(sampling, logprobs=1)
    if stops := _words(values, STOP_WORDS.name):
        sampling = msgspec.structs.replace(sampling, stop=[*sampling.stop, *stops])
    if _words(values, BAD_WORDS.name):
        raise ValueError(f"input '{BAD_WORDS.name}' is not supported: leave it out, or empty")
    prompt, is_chat = _prompt(values, sampling, reader)
    is_streamed = _flag(values, STREAM.name)
    has_prefix = not (is_streamed or is_chat or _flag(values, EXCLUDE_INPUT.name))
    room = reader.most_tokens(prompt, sampling)
    return Asked(
        prompt,
        msgspec.structs.replace(sampling, max_tokens=room),
        is_streamed,
        _schema(_text(values, RESPONSE_FORMAT.name)),
        prompt.text if has_prefix else "",
    )


def _prompt(values: Values, sampling: SamplingParameters, reader: PromptReader) -> tuple[Prompt, bool]:
    given = [name for name in (TEXT_INPUT.name, MESSAGES.name) if name in values]
    if len(given) != 1:
        raise ValueError(f"give one of the inputs '{TEXT_INPUT.name}' and '{MESSAGES.name}'")
    text = _text(values, given[0])
    if given[0] == MESSAGES.name:
        return reader.read_chat(text, sampling), True
    return reader.read_text(text, sampling), False


def _text(values: Values, name: str) -> str:
    if name not in values:
        return ""
    found = values[name].ravel()
    if found.size != 1:
        raise ValueError(f"input '{name}' takes one text a request, not {found.size}")
    content: bytes = found[0]
    if len(content) > MOST_PROMPT_BYTES:
        raise ValueError(f"input '{name}' has {len(content):,} bytes; {MOST_PROMPT_BYTES:,} at most")
    return _decoded(name, content)


def _words(values: Values, name: str) -> list[str]:
    """The texts of an input that may have several, without empty ones."""
    found = values[name].ravel().tolist() if name in values else []
    return [_decoded(name, word) for word in found if word]


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"input '{name}' is not UTF-8 ({error.reason} at byte {error.start})") from error


def _flag(values: Values, name: str) -> bool:
    return name in values and bool(np.all(values[name]))


def _schema(text: str) -> str:
    """The JSON schema in a `response_format`: the schema itself, or OpenAI's object around it."""
    if not text.strip():
        return ""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"input '{RESPONSE_FORMAT.name}' is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"input '{RESPONSE_FORMAT.name}' must be a JSON object")
    kind = found.get("type")
    if kind == "text":
        return ""
    if kind == "json_object":
        return '{"type": "object"}'
    if kind == "json_schema":
        named = found.get("json_schema", {})
        found = named.get("schema") if isinstance(named, dict) else None
        if not isinstance(found, dict):
            raise ValueError(f"input '{RESPONSE_FORMAT.name}' of type json_schema has no json_schema.schema")
    schema = json.dumps(found)
    if len(schema) > MOST_SCHEMA_BYTES:
        raise ValueError(f"input '{RESPONSE_FORMAT.name}': the schema has over {MOST_SCHEMA_BYTES:,} bytes")
    return schema
