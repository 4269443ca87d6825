"""The command line: each handler builds a spec, calls a room, and prints the result.

Results go to stdout, progress and logs to stderr. Exit 0: done; 1: refused, with one line that says why; 2: usage.
"""

import logging
import sys
from typing import Annotated

import typer

from trireme import __version__
from trireme.commands.bench import bench
from trireme.commands.check import check
from trireme.commands.compare import compare
from trireme.commands.console import stderr, stdout
from trireme.commands.doctor import doctor
from trireme.commands.export import export
from trireme.commands.huggingface import hf_environment
from trireme.commands.infer import infer
from trireme.commands.plan import build_plan
from trireme.commands.promotion import canary, promote, retire, rollback, shadow, stage
from trireme.commands.releases import history, releases, status
from trireme.commands.serve import serve
from trireme.errors import TriremeError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="From a PaddleNLP or Hugging Face text model to a checked, fast, versioned pipeline on Triton.",
)
_MAKE = (export, compare, build_plan, hf_environment)
_RUN = (infer, serve, check, bench, doctor)
_MOVE = (releases, stage, shadow, canary, promote, rollback, retire, status, history)
for _command in (*_MAKE, *_RUN, *_MOVE):
    app.command()(_command)


def main() -> None:
    """Entry point of the `trireme` command."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    try:
        app()
    except TriremeError as error:
        stderr.print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)


def _version(wanted: bool) -> None:
    if wanted:
        stdout.print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
