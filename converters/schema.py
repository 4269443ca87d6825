"""What a user describes, as data that is also a file: msgspec reads JSON into it, and refuses what it does not know."""

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from trireme.errors import TriremeError

Described = TypeVar("Described", bound="Schema")
Document = dict[str, Any]
"""A description as JSON holds it. Between parser and file only."""


class SpecError(TriremeError):
    """A description cannot be used."""

    def __init__(self, origin: str, problem: str) -> None:
        super().__init__(f"{origin}: {problem}; `trireme export ... --write-spec FILE` writes one to begin with")


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a description. What is not given has its default, and is not written down."""


def read_document(path: Path) -> Document:
    """The JSON object in a file.

    Raises:
        SpecError: it cannot be read, or is no JSON object.
    """
    try:
        document = msgspec.json.decode(path.read_bytes(), type=Document)
    except OSError as error:
        raise SpecError(f"spec {path}", f"cannot be read ({error.strerror or error})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"spec {path}", str(error)) from error
    return document


def write_document(document: Document, path: Path) -> None:
    """Write a description for people to read and change."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def to_document(described: Schema) -> Document:
    """A description without what was left to its default."""
    document: Document = msgspec.to_builtins(described, enc_hook=str)
    return {name: value for name, value in document.items() if value != {}}


def from_document(document: Document, kind: type[Described], origin: str) -> Described:
    """The description that a document holds.

    Args:
        document: any paths in it may be `Path` objects.
        kind: what it describes.
        origin: where it is from, for the error.

    Raises:
        SpecError: a field is missing, unknown, or of another type; the message names it.
        TriremeError: a field's value is none that is supported.
    """
    try:
        return msgspec.convert(document, kind, dec_hook=_path)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$.")
        raise SpecError(origin, f"{place.rstrip('`')}: {problem}" if place else problem) from error


def _path(kind: type[Any], value: Any) -> Any:
    if kind is Path and isinstance(value, (str, Path)):
        return Path(value)
    raise ValueError(f"Expected a path, got {value!r}")
