"""The command that turns a checkpoint into a release."""

from typing import TYPE_CHECKING

from trireme.cli import release_options as options
from trireme.cli.console import REPOSITORY, RepositoryOption, progress_on_stderr, stderr, stdout

if TYPE_CHECKING:
    from text_runtime.manifest import Manifest


def export(
    checkpoint: options.Checkpoint,
    task: options.Task,
    name: options.Name,
    repository: RepositoryOption = REPOSITORY,
    target: options.Target = "cpu",
    engine: options.Engine = None,
    precision: options.Precision = "fp32",
    method: options.Method = None,
    max_length: options.MaxLength = None,
    corpus: options.Corpus = None,
    labels: options.LabelFile = None,
    long_text: options.LongText = "truncate",
    source: options.Source = None,
    python: options.PythonPath = None,
    pooling: options.PoolingName = None,
    prompt: options.PromptName = None,
    normalize: options.Normalize = None,
    calibration: options.CalibrationFile = None,
    evaluate: options.EvaluationFile = None,
    max_drop: options.MaxDrop = 0.5,
    prune: options.Share = None,
    recover_epochs: options.RecoverEpochs = 0,
    joined: options.Instances = 0,
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
    from trireme.contract.naming import require_free_name
    from trireme.contract.repository import Repository

    Repository(repository).require_writable()
    require_free_name(repository, name)
    engine = engine or ("tensorrt" if target == "gpu" else "onnxruntime")
    wanted = spec.ExportSpec(
        checkpoint,
        task,
        name,
        repository,
        encoder=spec.EncoderSpec(engine, precision, method, calibration, target),
        evaluation=EvaluationSpec(evaluate, max_drop) if evaluate else None,
        pruning=None if prune is None else spec.PruningSpec(prune, recover_epochs),
        options=SourceOptions(source, Pooling(pooling) if pooling else None, python, prompt),
        max_length=max_length,
        long_text=long_text,
        labels=labels,
        is_normalized=normalize,
        corpus=corpus,
        instances=joined,
    )
    with progress_on_stderr("exporting") as progress:
        _say(run(wanted, progress))


def _say(manifest: "Manifest") -> None:
    encoder = manifest.encoder
    for warning in encoder.warnings:
        stderr.print(f"warning: {warning}", style="yellow", soft_wrap=True)
    line = f"{manifest.pipeline} release {manifest.release}: {encoder.engine} {encoder.precision}"
    stdout.print(f"{line}, {len(manifest.gates)} gates passed", soft_wrap=True)
