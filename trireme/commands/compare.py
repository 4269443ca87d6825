"""The command that measures every precision of every engine."""

from pathlib import Path
from typing import Annotated

import typer

from trireme.answers import comparison_table
from trireme.commands.console import progress_on_stderr, stdout


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
    with progress_on_stderr("comparing") as progress:
        rows = run(spec, progress)
    stdout.print(comparison_table(rows))
    write_report(rows, report)
    best = recommend(rows)
    stdout.print(f"recommended: {best.engine} {best.precision}", spec.command_for(best), sep="\n", soft_wrap=True)
