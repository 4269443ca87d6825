"""The command that asks a served pipeline."""

from typing import Annotated

import typer

from trireme.answers import answer_table
from trireme.commands.console import stdout


def infer(
    pipeline: Annotated[str, typer.Argument(help="The pipeline's name.")],
    texts: Annotated[list[str], typer.Argument(help="One or more texts.")],
    url: Annotated[str, typer.Option(help="HTTP address of the server.")] = "127.0.0.1:8000",
    grpc: Annotated[str | None, typer.Option(help="gRPC address of the server; takes the place of --url.")] = None,
) -> None:
    """Ask a pipeline, and print the answer for each text.

    Example: `trireme infer sentiment "物流很快，质量也好" "用了两天就坏了"`
    """
    from trireme.client import Address
    from trireme.client import infer as ask

    answers = ask(Address(grpc, True) if grpc else Address(url.removeprefix("http://")), pipeline, texts)
    stdout.print(answer_table(texts, answers))
