"""The command line: each handler builds a spec, calls a room, and prints the result.

Results go to stdout, progress and logs to stderr. Exit 0: done; 1: refused, with one line that says why; 2: usage.
"""

import logging
import sys
from typing import Annotated

import typer

from trireme import __version__
from trireme.cli.bench import bench
from trireme.cli.check import check
from trireme.cli.compare import compare
from trireme.cli.console import stderr, stdout
from trireme.cli.doctor import doctor
from trireme.cli.export import export
from trireme.cli.huggingface import hf_environment
from trireme.cli.infer import infer
from trireme.cli.plan import build_plan
from trireme.cli.promotion import canary, promote, retire, rollback, shadow, stage
from trireme.cli.releases import history, releases, status
from trireme.cli.serve import serve
from trireme.errors import TriremeError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # Rich's tables cut long words and choices off in 80 columns.
    help="From a PaddleNLP or Hugging Face text model to a checked, fast, versioned pipeline on Triton.",
)
_INTERRUPTED = 130
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
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except (TriremeError, OSError, MemoryError) as error:
        line = " ".join(_sentence(error).split("\n"))
        stderr.print(f"error: {line}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)


def _sentence(error: Exception) -> str:
    """What failed, on what: of a full disk the file, of memory only that."""
    if isinstance(error, MemoryError):
        return "there is not enough memory: end other programs, or give this one more"
    if isinstance(error, OSError):
        files = " -> ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
        return ": ".join(filter(None, (files, error.strerror or str(error) or type(error).__name__)))
    return str(error)


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
