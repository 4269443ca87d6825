"""What the commands share: where they print, how they show progress, and the option that names the repository."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from text_runtime.manifest import Manifest

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


def say_release(manifest: "Manifest") -> None:
    """Tell of a release that was published, and warn of what its user should know."""
    network = manifest.network
    for warning in network.warnings:
        stderr.print(f"warning: {warning}", style="yellow", soft_wrap=True)
    line = f"{manifest.pipeline} release {manifest.release}: {network.engine} {network.precision}"
    stdout.print(f"{line}, {len(manifest.gates)} gates passed", soft_wrap=True)
