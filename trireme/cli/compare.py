"""The command that measures every precision of every engine."""

from pathlib import Path

from trireme.cli import release_options as options
from trireme.cli.console import progress_on_stderr, stdout


def compare(
    checkpoint: options.Checkpoint,
    evaluate: options.RequiredEvaluationFile,
    task: options.Task = "text-classification",
    calibration: options.CalibrationFile = None,
    source: options.Source = None,
    python: options.PythonPath = None,
    pooling: options.PoolingName = None,
    prompt: options.PromptName = None,
    max_length: options.MaxLength = None,
    max_drop: options.MaxDrop = 0.5,
    prune: options.Shares = None,
    recover_epochs: options.RecoverEpochs = 0,
    only: options.Only = None,
    timeout: options.TimeoutS = 1800.0,
    report: options.ReportFolder = Path("reports"),
) -> None:
    """Try every precision of every engine on this machine, and recommend one.

    Each candidate is exported into a folder of its own by a process of its own, passes the gates or is refused, and is
    timed; a candidate that fails never stops the rest. Nothing is published.
    """
    from converters.compare import CompareSpec, NoCandidateError, recommend
    from converters.compare import compare as run
    from converters.compare_report import table_of, write_report
    from converters.evaluation import EvaluationSpec
    from converters.sources import Pooling, SourceOptions
    from converters.spec import PruningSpec
    from trireme.client.answers import comparison_table

    prunings = tuple(PruningSpec(share, recover_epochs) for share in prune or ())
    evaluation = EvaluationSpec(evaluate, max_drop)
    chosen = SourceOptions(source, Pooling(pooling) if pooling else None, python, prompt)
    spec = CompareSpec(
        checkpoint, task, evaluation, calibration, max_length, prunings, tuple(only or ()), timeout, chosen
    )
    with progress_on_stderr("comparing") as progress:
        rows = run(spec, progress)
    stdout.print(comparison_table(*table_of(rows)))
    best = recommend(rows)
    write_report(rows, spec.command_for(best.plan) if best else "", report)
    if best is None:
        raise NoCandidateError
    stdout.print(f"recommended: {best.plan}", spec.command_for(best.plan), sep="\n", soft_wrap=True)
