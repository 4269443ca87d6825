"""The command that turns a checkpoint into a release."""

from pathlib import Path
from typing import Annotated

import typer

from trireme.commands.console import REPOSITORY, RepositoryOption, progress_on_stderr, stdout


def export(
    checkpoint: Annotated[Path, typer.Argument(help="Folder that `save_pretrained` wrote.")],
    task: Annotated[str, typer.Option(help="What the pipeline does, for example `text-classification`.")],
    name: Annotated[str, typer.Option(help="The pipeline's name, as clients will call it.")],
    repository: RepositoryOption = REPOSITORY,
    target: Annotated[str, typer.Option(help="Where it is served: `cpu` or `gpu`.")] = "cpu",
    engine: Annotated[
        str | None,
        typer.Option(
            help="What runs the encoder: on cpu `onnxruntime` (default) or `openvino`, on gpu `tensorrt` (default) or "
            "`onnxruntime`."
        ),
    ] = None,
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

    engine = engine or ("tensorrt" if target == "gpu" else "onnxruntime")
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
        target,
    )
    with progress_on_stderr("exporting") as progress:
        manifest = run(spec, progress)
    stdout.print(
        f"{name} release {manifest.release}: {engine} {precision}, {len(manifest.gates)} gates passed",
        soft_wrap=True,
    )
