"""The command that measures every precision of every engine."""

from pathlib import Path
from typing import Annotated

import typer

from trireme.answers import comparison_table
from trireme.commands.console import progress_on_stderr, stdout


def compare(
    checkpoint: Annotated[Path, typer.Argument(help="Folder that `save_pretrained` wrote.")],
    evaluate: Annotated[Path, typer.Option(help="Labelled texts (.tsv with a header, or CoNLL).")],
    task: Annotated[str, typer.Option(help="What the pipeline does.")] = "text-classification",
    calibration: Annotated[Path | None, typer.Option(help="Real texts, one a line, for static int8.")] = None,
    max_length: Annotated[int | None, typer.Option(help="Longest text in tokens.")] = None,
    max_drop: Annotated[float, typer.Option(help="Points of the metric that may be lost.")] = 0.5,
    prune: Annotated[
        list[float] | None, typer.Option(help="Also try the model pruned to this share; may be given again.")
    ] = None,
    recover_epochs: Annotated[int, typer.Option(help="Epochs in which pruned models learn from the original.")] = 0,
    only: Annotated[
        list[str] | None, typer.Option(help="Only candidates whose name holds this: `openvino`, `int8 static`.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds that one candidate may take.")] = 1800.0,
    report: Annotated[Path, typer.Option(help="Folder for the JSON, Markdown and HTML report.")] = Path("reports"),
) -> None:
    """Try every precision of every engine on this machine, and recommend one.

    Each candidate is exported into a folder of its own by a process of its own, passes the gates or is refused, and is
    timed; a candidate that fails never stops the rest. Nothing is published.
    """
    from converters.compare import CompareSpec, NoCandidateError, recommend
    from converters.compare import compare as run
    from converters.compare_report import table_of, write_report
    from converters.evaluation import EvaluationSpec
    from converters.spec import PruningSpec

    prunings = tuple(PruningSpec(share, recover_epochs) for share in prune or ())
    spec = CompareSpec(
        checkpoint,
        task,
        EvaluationSpec(evaluate, max_drop),
        calibration,
        max_length,
        prunings,
        tuple(only or ()),
        timeout,
    )
    with progress_on_stderr("comparing") as progress:
        rows = run(spec, progress)
    stdout.print(comparison_table(*table_of(rows)))
    best = recommend(rows)
    write_report(rows, spec.command_for(best.plan) if best else "", report)
    if best is None:
        raise NoCandidateError
    stdout.print(f"recommended: {best.plan}", spec.command_for(best.plan), sep="\n", soft_wrap=True)
