"""Commands that share options: the handler gets one object that the options make, and typer sees every option."""

import inspect
from collections.abc import Callable, Sequence


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
