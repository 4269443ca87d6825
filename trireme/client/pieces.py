"""An answer's pieces as both clients read them out of a stream's responses."""

from collections.abc import Mapping
from typing import Any

from text_runtime.tasks.text_generation import Piece, piece_of
from trireme.client.wires import release_of
from trireme.errors import UnavailableError

Fields = Mapping[str, Any]
"""A response's outputs by name, each a text or a number, with `model_version`."""


def piece_from(fields: Fields) -> Piece:
    """A response as a piece, with the release that wrote it."""
    return piece_of(fields, release_of(fields["model_version"]))


def require_end(last: Piece, server: str) -> None:
    """Refuse an answer whose last piece is not there: a connection that ends early looks like an end over HTTP.

    Raises:
        UnavailableError: it broke off.
    """
    if not last.finish_reason:
        raise broken_off(server)


def broken_off(server: str) -> UnavailableError:
    """The error of an answer that ends before its end."""
    return UnavailableError(server, "the answer broke off before its end")
