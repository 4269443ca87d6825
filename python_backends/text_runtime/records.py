"""Files that outlive the program that wrote them: how any version of Trireme reads those of another.

The rule: a reader ignores fields that it does not know, and keeps them where it writes the file again; what is missing
has a default; only a `format` that is higher than the reader's own is refused. `format` is raised where a reader of
before would misunderstand, never because a field was added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

_UNKNOWN = "unknown_fields"


class FormatError(ValueError):
    """A file was written by a newer Trireme, in a format that this one would misunderstand.

    `problem` and `remedy` are the two halves of the message.
    """

    def __init__(self, origin: str, found: int, known: int, writer: str) -> None:
        self.problem = f"its format {found} is newer than format {known}, the newest that this Trireme reads"
        self.remedy = f"use Trireme {writer} or later" if writer else "use the Trireme that wrote it, or a later one"
        super().__init__(f"{origin}: {self.problem}; {self.remedy}")


@dataclass(frozen=True)
class Record:
    """A dataclass that keeps the fields of its file that this version does not know."""

    unknown_fields: dict[str, Any] = field(default_factory=dict, kw_only=True)


Kind = TypeVar("Kind")


def require_format(content: object, known: int, origin: str) -> None:
    """Refuse a file, already parsed, of a format higher than the known one; without the field it is the first.

    `origin` names the file in the error.

    Raises:
        FormatError: it is newer.
    """
    facts = content if isinstance(content, Mapping) else {}
    found = facts.get("format", 1)
    if isinstance(found, int) and found > known:
        raise FormatError(origin, found, known, str(facts.get("trireme_version", "")))


def read_record(kind: type[Kind], content: object) -> Kind:
    """A record out of parsed JSON.

    Raises:
        ValueError: a field is missing that has no default, is of another type, or holds what cannot be.
    """
    return msgspec.convert(_gathered(kind, content), kind)


def fields_of(value: Any) -> Any:
    """What a record is in JSON: its fields, then those that were kept."""
    if is_dataclass(value):
        named = {each.name: fields_of(getattr(value, each.name)) for each in fields(value) if each.name != _UNKNOWN}
        return named | getattr(value, _UNKNOWN, {})
    if isinstance(value, tuple):
        return [fields_of(each) for each in value]
    return value


def _gathered(kind: type, content: object) -> object:
    """The same content with what no record knows gathered in a field of its own, so that it is not lost."""
    known = _records_in(kind)
    if not isinstance(content, dict):
        return content
    kept = {name: value for name, value in content.items() if name not in known}
    return {name: _inside(known[name], value) for name, value in content.items() if name in known} | {_UNKNOWN: kept}


def _inside(kind: type | None, value: object) -> object:
    if kind is None:
        return value
    return [_gathered(kind, each) for each in value] if isinstance(value, list) else _gathered(kind, value)


@cache
def _records_in(kind: type) -> dict[str, type | None]:
    """A record's fields, each with the kind of record that it holds, alone or in a list; None where it holds none."""
    hints = get_type_hints(kind)
    return {each.name: _record_in(hints[each.name]) for each in fields(kind) if each.name != _UNKNOWN}


def _record_in(hint: Any) -> type | None:
    return next((each for each in (hint, *get_args(hint)) if isinstance(each, type) and issubclass(each, Record)), None)
