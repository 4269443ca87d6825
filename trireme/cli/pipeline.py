"""What every command on a pipeline asks for, said once: the pipeline, its servers, and where its moves are recorded."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from trireme.cli.console import MAX_RELEASE, REPOSITORY, RepositoryOption
from trireme.cli.signatures import own_parameters, with_parameters

Release = Annotated[int, typer.Argument(help="The release's number.", min=1, max=MAX_RELEASE)]
Name = Annotated[str, typer.Argument(help="The pipeline's name.")]
Servers = Annotated[
    list[str] | None,
    typer.Option("--server", "-s", help="`host:port` for gRPC, or a DNS name of all replicas; repeat it."),
]
Ledgers = Annotated[
    Path | None, typer.Option(help="Where ledgers stand; by default `releases/` beside it.", file_okay=False)
]
Mlflow = Annotated[
    str | None,
    typer.Option(
        envvar="TRIREME_MLFLOW", help="An MLflow model registry that mirrors the ledger: `http://…` or `sqlite:///…`."
    ),
]


def on_pipeline(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the pipeline's name and options, and hand it the `PromotionSpec` that they make.

    The command's own parameters, all but the first, stand between the name and the shared options.
    """
    own = own_parameters(command)
    name, *shared = inspect.signature(_spec).parameters.values()

    def run(**values: Any) -> None:
        command(_spec(*(values.pop(each.name) for each in (name, *shared))), **values)

    return with_parameters(run, command, (name, *own, *shared))


def _spec(
    name: Name,
    servers: Servers = None,
    repository: RepositoryOption = REPOSITORY,
    ledgers: Ledgers = None,
    mlflow: Mlflow = None,
) -> Any:
    from trireme.promotion.spec import PromotionSpec

    return PromotionSpec(name, repository, tuple(servers or ()), ledgers, mlflow=mlflow)
