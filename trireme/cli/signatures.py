"""Commands that share options: the handler gets one object that the options make, and typer sees every option."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any


def own_parameters(command: Callable[..., None]) -> list[inspect.Parameter]:
    """A handler's parameters but the first, which is the object that shared options make."""
    return list(inspect.signature(command).parameters.values())[1:]


def with_parameters(
    run: Callable[..., None], command: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Let `run` stand for a handler: under its name, with its help, and with these parameters."""
    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in named}
    return run


def option(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    """An option as a parameter; with `REQUIRED` for its default it must be given."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def made_of(
    make: Callable[..., Any], options: Sequence[inspect.Parameter], are_last: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options beside its own, and hand it first what `make` makes of their values.

    They are listed before the command's own, or after them.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = own_parameters(command)

        def run(**values: Any) -> None:
            command(make(**{each.name: values.pop(each.name) for each in options}), **values)

        return with_parameters(run, command, [*own, *options] if are_last else [*options, *own])

    return decorate


REQUIRED = inspect.Parameter.empty
"""The default of an option that must be given."""
