"""Options that take one word of a registry: `--help` lists the words, and any other is a usage error."""

from collections.abc import Callable, Sequence
from typing import Any

import typer


def one_of(words: Sequence[str], help: str, show_default: str | bool = True) -> Any:
    """An option, for use in `Annotated`, whose value is one of `words`; the shell completes them.

    An enum would say the same, but mypy knows no enum that is made of a registry at run time, and its words would be
    broken in the narrow column of types.
    """
    listed = ", ".join(f"`{word}`" for word in words)
    text = f"{help} One of: {listed}."
    return typer.Option(
        help=text,
        metavar="WORD",
        parser=_reader(words),
        autocompletion=lambda: list(words),
        show_default=show_default,
    )


def _reader(words: Sequence[str]) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in words:
            raise typer.BadParameter(f"'{value}' is not one of: {', '.join(words)}")
        return value

    return read
