"""The command line of the load test."""

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from loadtest.run import Load, run
from loadtest.settings import DEFAULT_CORPUS, Settings
from trireme.errors import TriremeError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_stdout = Console()
_stderr = Console(stderr=True)


def main() -> int:
    """Run the command; gives the exit code."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    try:
        app()
    except TriremeError as error:
        _stderr.print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        return 1
    return 0


@app.command()
def load_test(
    pipeline: Annotated[str, typer.Argument(help="The served pipeline.")] = "sentiment",
    url: Annotated[str, typer.Option(help="HTTP address; '' leaves HTTP alone.")] = "127.0.0.1:8000",
    grpc: Annotated[str, typer.Option(help="gRPC address; '' leaves gRPC alone.")] = "127.0.0.1:8001",
    seconds: Annotated[float, typer.Option(min=1, help="How long.")] = 20.0,
    users: Annotated[int, typer.Option(min=1, help="How many ask at once, over both protocols.")] = 16,
    rows: Annotated[int, typer.Option(min=1, max=64, help="Texts in a request.")] = 1,
    corpus: Annotated[
        Path, typer.Option(help="Texts: .txt, one a line, or .tsv with a column `text`.")
    ] = DEFAULT_CORPUS,
    schema: Annotated[str, typer.Option(help="Information extraction: what is asked, as JSON.")] = Settings.schema,
    max_tokens: Annotated[int, typer.Option(min=1, help="Text generation: most tokens of an answer.")] = 64,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that a request may take.")] = Settings.timeout_s,
    seed: Annotated[int, typer.Option(help="Which texts are drawn.")] = 1,
    json: Annotated[Path | None, typer.Option(help="Write the report to this file, too.")] = None,
) -> None:
    """Put a served pipeline under load over HTTP and gRPC, and judge every answer.

    The task is told from the pipeline's inputs and outputs. Prints throughput, latency quantiles and failures; exits
    with 1 on any failure.
    """
    settings = Settings(pipeline, url, grpc, corpus, rows, schema, timeout, max_tokens, seed)
    report = run(settings, Load(users, seconds))
    _stdout.print(report.to_tables())
    if json is not None:
        json.write_bytes(report.to_json())
    raise typer.Exit(not report.is_passed)
