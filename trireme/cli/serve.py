"""The command that serves a repository on this machine."""

from typing import Annotated, Any

import typer

from trireme.cli.console import REPOSITORY, RepositoryOption, stdout


def _port(protocol: str) -> Any:
    return typer.Option(help=f"Port for {protocol}; 0 takes a free one.", min=0, max=65535)


def serve(
    repository: RepositoryOption = REPOSITORY,
    pipelines: Annotated[list[str] | None, typer.Option("--pipeline", help="Serve only these; repeat it.")] = None,
    http_port: Annotated[int, _port("HTTP")] = 8000,
    grpc_port: Annotated[int, _port("gRPC")] = 8001,
    metrics_port: Annotated[int, _port("Prometheus metrics")] = 8002,
    latency_summaries: Annotated[
        bool, typer.Option(help="Have p50, p95 and p99 of every model among the metrics; costs a small one a tenth.")
    ] = True,
    shared_memory: Annotated[
        bool,
        typer.Option(
            "--shared-memory",
            help="Let clients of this machine send data through system shared memory, without the control token. "
            "Each of them can then read and change the data of all others: only where you trust all who reach the "
            "ports.",
            envvar="TRIREME_SHARED_MEMORY",
        ),
    ] = False,
) -> None:
    """Serve a model repository on this machine.

    It listens on loopback, and the Triton is the one that comes in a wheel. Waits until every pipeline answers a real
    inference, prints the addresses, and serves until Ctrl-C.
    """
    from trireme.serving import ServerSpec
    from trireme.serving import serve as run

    spec = ServerSpec(
        repository,
        http_port=http_port,
        grpc_port=grpc_port,
        metrics_port=metrics_port,
        pipelines=tuple(pipelines or ()),
        latency_summaries=latency_summaries,
        shared_memory=shared_memory,
    )
    run(spec, lambda server: stdout.print(f"ready: {server.addresses}", soft_wrap=True))
