"""The command that measures a pipeline against its ceiling."""

from pathlib import Path
from typing import Annotated

import typer

from trireme.cli.console import REPOSITORY, RepositoryOption, progress_on_stderr, stdout
from trireme.text_files import read_texts

_CONCURRENCY = typer.Option(help="Requests in flight; repeat it.", min=1, max=10_000)


def bench(
    pipeline: Annotated[str, typer.Argument(help="A pipeline in the repository.")],
    repository: RepositoryOption = REPOSITORY,
    corpus: Annotated[Path, typer.Option(help="Texts, one a line.")] = Path("examples/sentiment/reviews.txt"),
    concurrency: Annotated[list[int], _CONCURRENCY] = [1, 8, 64],  # noqa: B006
    rounds: Annotated[int, typer.Option(help="Rounds; medians and spread are over them.", min=1, max=1000)] = 3,
    seconds: Annotated[float, typer.Option(help="Seconds of each sample.", min=0.1, max=100_000)] = 5.0,
    report: Annotated[Path, typer.Option(help="Folder for the JSON and HTML report.", file_okay=False)] = Path(
        "reports"
    ),
) -> None:
    """Measure a pipeline against its in-process ceiling.

    The ceiling is the same engine and tokenizer without a server.
    Serves the pinned release on free ports, alternates with the ceiling in several rounds, and prints throughput,
    latency percentiles, CPU time, batches and padding.
    """
    from loadtest.bench import report as reports
    from loadtest.bench.run import BenchSpec, run
    from loadtest.bench.target import triton_target
    from trireme.contract.repository import Repository
    from trireme.serving import ServerSpec, start

    read_texts(corpus)
    release = Repository(repository).pinned_release(pipeline)
    spec = BenchSpec(repository, pipeline, release, corpus, tuple(concurrency), rounds, seconds)
    with (
        start(ServerSpec(repository, 0, 0, 0, pipelines=(pipeline,))) as server,
        progress_on_stderr("measuring") as progress,
    ):
        target = triton_target(pipeline, server)
        measurements = run(spec, [target], progress)
    for table in reports.tables(measurements):
        stdout.print(table)
    reports.write(spec, measurements, report, pipeline)
