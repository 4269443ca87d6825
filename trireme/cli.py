"""The command line: each handler builds a spec, calls a room, and prints the result.

Results go to stdout, progress and logs to stderr. Exit 0: done; 1: refused, with one line that says why; 2: usage.
"""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from trireme import __version__
from trireme.answers import comparison_table
from trireme.commands import promotion as promotion_commands
from trireme.errors import TriremeError
from trireme.repository import Repository

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="From a PaddleNLP or Hugging Face text model to a checked, fast, versioned pipeline on Triton.",
)
_stdout = Console(width=None if sys.stdout.isatty() else 160)
_stderr = Console(stderr=True)

RepositoryOption = Annotated[
    Path, typer.Option("--repository", "-r", help="The model repository.", envvar="TRIREME_REPOSITORY")
]
_REPOSITORY = Path("model_repository")


def main() -> None:
    """Entry point of the `trireme` command."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    try:
        app()
    except TriremeError as error:
        _stderr.print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)


@contextmanager
def _progress(title: str) -> Iterator[Callable[[str], None]]:
    """A spinner that says what is being done, and leaves a line for each thing on stderr."""
    with _stderr.status(title) as status:

        def say(line: str) -> None:
            _stderr.print(line, style="dim", highlight=False)
            status.update(line)

        yield say


def _version(wanted: bool) -> None:
    if wanted:
        _stdout.print(__version__)
        raise typer.Exit


promotion_commands.register(app)


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def export(
    checkpoint: Annotated[Path, typer.Argument(help="Folder that `save_pretrained` wrote.")],
    task: Annotated[str, typer.Option(help="What the pipeline does, for example `text-classification`.")],
    name: Annotated[str, typer.Option(help="The pipeline's name, as clients will call it.")],
    repository: RepositoryOption = _REPOSITORY,
    engine: Annotated[str, typer.Option(help="What runs the encoder: `onnxruntime` or `openvino`.")] = "onnxruntime",
    precision: Annotated[str, typer.Option(help="`fp32`, `bf16` (openvino) or `int8`.")] = "fp32",
    max_length: Annotated[
        int | None, typer.Option(help="Longest text in tokens; by default the model's limit.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Your own texts, one a line, for the gates to compare on.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="JSON with the words, thresholds or aggregation of the labels.")
    ] = None,
    long_text: Annotated[str, typer.Option(help="Longer texts: `truncate`, or read in `window`s.")] = "truncate",
    source: Annotated[
        str | None, typer.Option(help="`paddlenlp` or `huggingface`; by default found by looking.")
    ] = None,
    pooling: Annotated[
        str | None, typer.Option(help="Of embeddings: `cls`, `mean` or `pooler`; by default what the checkpoint says.")
    ] = None,
    normalize: Annotated[
        bool | None, typer.Option(help="Whether embeddings have length 1; by default what the checkpoint says.")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(help="Real texts, one a line, for static int8 to read ranges off.")
    ] = None,
    evaluate: Annotated[
        Path | None, typer.Option(help="Labelled texts (.tsv: text, label): adds the gates agreement and metric.")
    ] = None,
    max_drop: Annotated[float, typer.Option(help="Points of accuracy that may be lost.")] = 0.5,
) -> None:
    """Export a checkpoint as the next release of a pipeline.

    The release is converted, compared with the source model on generated strings and your corpus, and published only
    if every gate passes. The first release of a pipeline is pinned; later ones wait to be promoted.

    Example: `trireme export examples/sentiment/checkpoint --task text-classification --name sentiment`
    """
    from converters.export import ExportSpec
    from converters.export import export as run
    from converters.sources import Pooling, SourceOptions

    spec = ExportSpec(
        checkpoint,
        task,
        name,
        repository,
        engine,
        precision,
        max_length,
        corpus,
        labels,
        long_text,
        SourceOptions(source, Pooling(pooling) if pooling else None),
        normalize,
        calibration,
        evaluate,
        max_drop,
    )
    with _progress("exporting") as progress:
        manifest = run(spec, progress)
    _stdout.print(
        f"{name} release {manifest.release}: {engine} {precision}, {len(manifest.gates)} gates passed",
        soft_wrap=True,
    )


@app.command()
def compare(
    checkpoint: Annotated[Path, typer.Argument(help="Folder that `save_pretrained` wrote.")],
    evaluate: Annotated[Path, typer.Option(help="Labelled texts (.tsv: text, label).")],
    task: Annotated[str, typer.Option(help="What the pipeline does.")] = "text-classification",
    calibration: Annotated[Path | None, typer.Option(help="Real texts, one a line, for static int8.")] = None,
    max_length: Annotated[int | None, typer.Option(help="Longest text in tokens.")] = None,
    max_drop: Annotated[float, typer.Option(help="Points of accuracy that may be lost.")] = 0.5,
    report: Annotated[Path, typer.Option(help="Folder for the JSON and HTML report.")] = Path("reports"),
) -> None:
    """Try every precision of every engine on this machine, and recommend one.

    Each candidate is exported into a folder of its own by a process of its own, passes the gates or is refused, and is
    timed; a candidate that fails never stops the rest. Nothing is published.
    """
    from converters.compare import CompareSpec, recommend, write_report
    from converters.compare import compare as run

    spec = CompareSpec(checkpoint, task, evaluate, calibration, max_length, max_drop)
    with _progress("comparing") as progress:
        rows = run(spec, progress)
    _stdout.print(comparison_table(rows))
    write_report(rows, report)
    best = recommend(rows)
    _stdout.print(f"recommended: {best.engine} {best.precision}", spec.command_for(best), sep="\n", soft_wrap=True)


@app.command()
def infer(
    pipeline: Annotated[str, typer.Argument(help="The pipeline's name.")],
    texts: Annotated[list[str], typer.Argument(help="One or more texts.")],
    url: Annotated[str, typer.Option(help="HTTP address of the server.")] = "127.0.0.1:8000",
    grpc: Annotated[str | None, typer.Option(help="gRPC address of the server; takes the place of --url.")] = None,
) -> None:
    """Ask a pipeline, and print the answer for each text.

    Example: `trireme infer sentiment "物流很快，质量也好" "用了两天就坏了"`
    """
    from trireme.answers import answer_table
    from trireme.client import Address
    from trireme.client import infer as ask

    answers = ask(Address(grpc, True) if grpc else Address(url.removeprefix("http://")), pipeline, texts)
    _stdout.print(answer_table(texts, answers))


@app.command()
def serve(
    repository: RepositoryOption = _REPOSITORY,
    pipelines: Annotated[list[str] | None, typer.Option("--pipeline", help="Serve only these; repeat it.")] = None,
    http_port: Annotated[int, typer.Option(help="Port for HTTP; 0 takes a free one.")] = 8000,
    grpc_port: Annotated[int, typer.Option(help="Port for gRPC; 0 takes a free one.")] = 8001,
    metrics_port: Annotated[int, typer.Option(help="Port for Prometheus metrics; 0 takes a free one.")] = 8002,
) -> None:
    """Serve a model repository on this machine's loopback, on the Triton that comes in a wheel.

    Waits until every pipeline answers a real inference, prints the addresses, and serves until Ctrl-C.
    """
    from serving import ServerSpec
    from serving import serve as run

    spec = ServerSpec(
        repository,
        http_port=http_port,
        grpc_port=grpc_port,
        metrics_port=metrics_port,
        pipelines=tuple(pipelines or ()),
    )
    run(spec, lambda server: _stdout.print(f"ready: {server.addresses}", soft_wrap=True))


@app.command()
def bench(
    pipeline: Annotated[str, typer.Argument(help="A pipeline in the repository.")],
    repository: RepositoryOption = _REPOSITORY,
    corpus: Annotated[Path, typer.Option(help="Texts, one a line.")] = Path("examples/sentiment/reviews.txt"),
    concurrency: Annotated[list[int], typer.Option(help="Requests in flight; repeat it.")] = [1, 8, 64],  # noqa: B006
    rounds: Annotated[int, typer.Option(help="Rounds; medians and spread are over them.")] = 3,
    seconds: Annotated[float, typer.Option(help="Seconds of each sample.")] = 5.0,
    report: Annotated[Path, typer.Option(help="Folder for the JSON and HTML report.")] = Path("reports"),
) -> None:
    """Measure a pipeline against its in-process ceiling: the same engine and tokenizer without a server.

    Serves the pinned release on free ports, alternates with the ceiling in several rounds, and prints throughput,
    latency percentiles, CPU time, batches and padding.
    """
    from loadtest.bench import report as reports
    from loadtest.bench.run import BenchSpec, run
    from loadtest.bench.target import triton_target
    from serving import ServerSpec, start

    release = Repository(repository).pinned_release(pipeline)
    spec = BenchSpec(repository, pipeline, release, corpus, tuple(concurrency), rounds, seconds)
    with start(ServerSpec(repository, 0, 0, 0, pipelines=(pipeline,))) as server, _progress("measuring") as progress:
        target = triton_target(pipeline, server.pid, server.http_url, server.grpc_url, server.metrics_url)
        measurements = run(spec, [target], progress)
    for table in reports.tables(measurements):
        _stdout.print(table)
    reports.write(spec, measurements, report)


@app.command()
def doctor() -> None:
    """Check what this machine has for converting and serving, and say what to do about the rest."""
    from serving.doctor import diagnose

    rows = diagnose()
    table = Table("check", "status", "found", "what to do")
    for row in rows:
        table.add_row(row.name, row.status, row.found, row.remedy)
    _stdout.print(table)
    raise typer.Exit(any(row.status == "fail" for row in rows))
