"""The schema of an extraction: what is asked of a text, as a tree of prompts. It travels with each request.

A schema is a name, a list of names and nodes, or a node: an object whose keys are names and whose values are the
schema of what is asked about each thing found. `{"人物": ["出生地", "职务"]}` asks for persons, and for each person's
birthplace and office.
"""

from dataclasses import dataclass
from typing import Any

import orjson

MAX_NAMES = 64
MAX_DEPTH = 8
_EXAMPLE = 'write a JSON list such as ["人物", {"公司": ["成立时间"]}]'
_FULL_WIDTH_SHIFT = 0xFEE0
ANSWER_END = "\x1f"
"""Stands between an answer that became a prompt and what is asked about it. No model sees it."""


@dataclass(frozen=True)
class Prompt:
    """One thing that is asked, and what is asked about each answer."""

    name: str
    children: tuple["Prompt", ...] = ()


def parse_schema(text: str) -> tuple[Prompt, ...]:
    """Parse a schema from JSON.

    Raises:
        ValueError: it is not JSON, not a schema, too deep, or asks too much; the message says which and shows one.
    """
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error}); {_EXAMPLE}") from error
    prompts = _prompts(content, 1)
    if (count := _count(prompts)) > MAX_NAMES:
        raise ValueError(f"{count} names are more than {MAX_NAMES}; ask in several requests")
    return prompts


def half_width(text: str) -> str:
    """Full-width forms as their half-width ones, as PaddleNLP writes its prompts."""
    return "".join(_half_width(character) for character in text)


def _prompts(content: Any, depth: int) -> tuple[Prompt, ...]:
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels; {_EXAMPLE}")
    if isinstance(content, str):
        return (_prompt(content, ()),)
    if isinstance(content, dict):
        return tuple(_prompt(name, _prompts(asked, depth + 1)) for name, asked in content.items())
    if isinstance(content, list):
        return tuple(prompt for element in content for prompt in _prompts(_element(element), depth))
    raise ValueError(f"{orjson.dumps(content).decode()} is neither a name, a list nor an object; {_EXAMPLE}")


def _element(content: Any) -> Any:
    if isinstance(content, list):
        raise ValueError(f"a list inside a list; {_EXAMPLE}")
    return content


def _prompt(name: str, children: tuple[Prompt, ...]) -> Prompt:
    if not name.strip():
        raise ValueError(f"an empty name; {_EXAMPLE}")
    return Prompt(name, children)


def _count(prompts: tuple[Prompt, ...]) -> int:
    return sum(1 + _count(prompt.children) for prompt in prompts)


def _half_width(character: str) -> str:
    if character == "\u3000":
        return " "
    code = ord(character) - _FULL_WIDTH_SHIFT
    return chr(code) if 0x21 <= code <= 0x7E else character
