"""What the commands share: where they print, how they show progress, and the option that names the repository."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

# What is printed is often a user's own text: rich would make a picture of `:b:`.
stdout = Console(width=None if sys.stdout.isatty() else 160, emoji=False)
stderr = Console(stderr=True, emoji=False)

RepositoryOption = Annotated[
    Path, typer.Option("--repository", "-r", help="The model repository.", envvar="TRIREME_REPOSITORY")
]
MAX_RELEASE = 999_999
"""A router takes the version after it; no pipeline had so many releases yet."""
REPOSITORY = Path("model_repository")


@contextmanager
def progress_on_stderr(title: str) -> Iterator[Callable[[str], None]]:
    """A spinner that says what is being done, and leaves a line for each thing on stderr."""
    with stderr.status(title) as status:

        def say(line: str) -> None:
            stderr.print(line, style="dim", highlight=False)
            status.update(line)

        yield say
