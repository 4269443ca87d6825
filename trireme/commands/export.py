"""The command that turns a checkpoint into a release."""

from pathlib import Path
from typing import Annotated

import typer

from trireme.commands.console import REPOSITORY, RepositoryOption, progress_on_stderr, stderr, stdout


def export(
    checkpoint: Annotated[Path, typer.Argument(help="Folder that `save_pretrained` wrote, or with an exported graph.")],
    task: Annotated[str, typer.Option(help="What the pipeline does, for example `text-classification`.")],
    name: Annotated[str, typer.Option(help="The pipeline's name, as clients will call it.")],
    repository: RepositoryOption = REPOSITORY,
    target: Annotated[str, typer.Option(help="Where it is served: `cpu` or `gpu`.")] = "cpu",
    engine: Annotated[
        str | None,
        typer.Option(
            help="What runs the encoder: on cpu `onnxruntime` (default), `openvino` or `paddle`, on gpu `tensorrt` "
            "(default) or `onnxruntime`."
        ),
    ] = None,
    precision: Annotated[
        str, typer.Option(help="`fp32`, `fp16` (for gpu), `bf16` (openvino, paddle), `int8`, or `int4` (cpu).")
    ] = "fp32",
    method: Annotated[
        str | None, typer.Option(help="Of int8 and int4: `dynamic`, `static` or `weight-only`; what the engine has.")
    ] = None,
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
        str | None, typer.Option(help="`paddlenlp`, `huggingface` or `static`; by default found by looking.")
    ] = None,
    pooling: Annotated[
        str | None, typer.Option(help="Of embeddings: `cls`, `mean` or `pooler`; by default what the checkpoint says.")
    ] = None,
    normalize: Annotated[
        bool | None, typer.Option(help="Whether embeddings have length 1; by default what the checkpoint says.")
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(help="Real texts, one a line (pairs: a tab between), for static int8 and for pruning."),
    ] = None,
    evaluate: Annotated[
        Path | None,
        typer.Option(help="Labelled texts (.tsv with a header, or CoNLL): adds the task's metric as a gate."),
    ] = None,
    max_drop: Annotated[float, typer.Option(help="Points of the metric that may be lost.")] = 0.5,
    prune: Annotated[
        float | None, typer.Option(help="Share of attention heads and neurons to keep, for example 0.75.")
    ] = None,
    recover_epochs: Annotated[
        int, typer.Option(help="Passes over the calibration texts in which a pruned model learns from the original.")
    ] = 0,
) -> None:
    """Export a checkpoint as the next release of a pipeline.

    The release is converted, compared with the source model on generated strings and your texts, and published only
    if every gate passes. The first release of a pipeline is pinned; later ones wait to be promoted.

    Example: `trireme export examples/sentiment/checkpoint --task text-classification --name sentiment`
    """
    from converters import spec
    from converters.evaluation import EvaluationSpec
    from converters.export import export as run
    from converters.sources import Pooling, SourceOptions

    engine = engine or ("tensorrt" if target == "gpu" else "onnxruntime")
    wanted = spec.ExportSpec(
        checkpoint,
        task,
        name,
        repository,
        encoder=spec.EncoderSpec(engine, precision, method, calibration, target),
        evaluation=EvaluationSpec(evaluate, max_drop) if evaluate else None,
        pruning=None if prune is None else spec.PruningSpec(prune, recover_epochs),
        options=SourceOptions(source, Pooling(pooling) if pooling else None),
        max_length=max_length,
        long_text=long_text,
        labels=labels,
        is_normalized=normalize,
        corpus=corpus,
    )
    with progress_on_stderr("exporting") as progress:
        manifest = run(wanted, progress)
    for warning in manifest.encoder.warnings:
        stderr.print(f"warning: {warning}", style="yellow", soft_wrap=True)
    line = f"{name} release {manifest.release}: {engine} {precision}, {len(manifest.gates)} gates passed"
    stdout.print(line, soft_wrap=True)
