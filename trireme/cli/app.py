"""The command line: each handler builds a spec, calls a room, and prints the result.

Results go to stdout, progress and logs to stderr. Exit 0: done; 1: refused, with one line that says why; 2: usage.
A command's module is imported when it is called, so that the list of all commands waits for none of them.
"""

import logging
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from trireme import __version__
from trireme.errors import TriremeError

_INTERRUPTED = 130
COMMANDS = {
    "export": ("export", "Export a checkpoint as the next release of a pipeline."),
    "export-llm": ("generation", "Export a causal language model as the next release of a pipeline that writes."),
    "compare": ("compare", "Try every precision of every engine, and recommend one."),
    "build-plan": ("plan", "Build the TensorRT plan of a release of target gpu."),
    "hf-environment": ("huggingface", "Make an environment with torch and transformers, once."),
    "infer": ("infer", "Ask a pipeline, and print the answer for each text."),
    "serve": ("serve", "Serve a model repository on this machine."),
    "gateway": ("gateway", "Offer pipelines by REST and by OpenAI's routes."),
    "check": ("check", "Look through a Triton model repository for faults."),
    "bench": ("bench", "Measure a pipeline against its in-process ceiling."),
    "doctor": ("doctor", "Check what this machine has for converting and serving."),
    "releases": ("releases", "List a pipeline's releases, with what is known of each."),
    "stage": ("promotion", "Load a release beside the current one on every server."),
    "shadow": ("promotion", "Compare a staged release's answers with the current one's."),
    "canary": ("promotion", "Let a release answer a share of the requests."),
    "promote": ("promotion", "Let a release answer everything, on all servers or none."),
    "rollback": ("promotion", "End a canary, or go back to the release before."),
    "retire": ("promotion", "Unload a release that answers nothing; it stays on disk."),
    "status": ("releases", "Ask every server what is loaded, and what answers."),
    "history": ("releases", "Read a pipeline's ledger: every move, and how it ended."),
}
"""Every command in the order of the list: its module beside this one, and the first sentence of its docstring."""


class CommandGroup(TyperGroup):
    """Lists commands by their names and sentences alone, and imports the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name, as its own module defines it."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed and _imported(str(name)), rest


def _imported(name: str) -> Any:
    module, _ = COMMANDS[name]
    single = _application(add_completion=False)
    single.command(name)(getattr(import_module(f"trireme.cli.{module}"), name.replace("-", "_")))
    return get_command(single)


def _application(**settings: Any) -> typer.Typer:
    return typer.Typer(
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # Rich's tables cut long words and choices off in 80 columns.
        **settings,
    )


app = _application(
    cls=CommandGroup,
    no_args_is_help=True,
    help="From a PaddleNLP or Hugging Face text model to a checked, fast, versioned pipeline on Triton.",
)
for _name, (_, _sentence) in COMMANDS.items():
    app.command(_name, help=_sentence)(lambda: None)


def main() -> None:
    """Entry point of the `trireme` command."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except (TriremeError, OSError, MemoryError) as error:
        from trireme.cli.console import stderr

        line = " ".join(_told(error).split("\n"))
        stderr.print(f"error: {line}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)


def _told(error: Exception) -> str:
    """What failed, on what: of a full disk the file, of memory only that."""
    if isinstance(error, MemoryError):
        return "there is not enough memory: end other programs, or give this one more"
    if isinstance(error, OSError):
        files = " -> ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
        return ": ".join(filter(None, (files, error.strerror or str(error) or type(error).__name__)))
    return str(error)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
