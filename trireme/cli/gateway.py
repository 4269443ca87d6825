"""The command that runs the gateway."""

from typing import Annotated

import typer

from trireme.cli.console import stdout


def gateway(
    server: Annotated[list[str], typer.Option(help="gRPC address of a Triton, `grpc://HOST:PORT`; repeat it.")],
    pipeline: Annotated[
        list[str] | None, typer.Option(help="Offer only this one; repeat it. By default all that a server lists.")
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen: a loopback address, since there are no keys yet.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 9000,
    timeout: Annotated[float, typer.Option(help="Seconds that a request may take.", min=0.1, max=86_400)] = 60.0,
) -> None:
    """Offer pipelines by REST and by OpenAI's routes.

    Routes: `/classify`, `/generate` and `/health`; OpenAI's `/v1/models`, `/v1/embeddings`, `/v1/completions` and
    `/v1/chat/completions`; every task under `/v1/pipelines`. The page `/docs` shows and tries them.

    Example: `trireme gateway --server grpc://127.0.0.1:8001`
    """
    from trireme.gateway import GatewaySpec, run

    spec = GatewaySpec(tuple(server), tuple(pipeline or ()), host, port, timeout)
    run(spec, lambda address: stdout.print(f"ready: {address}", soft_wrap=True))
