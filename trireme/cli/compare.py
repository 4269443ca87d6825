"""The command that measures every precision of every engine."""

from pathlib import Path
from typing import TYPE_CHECKING

from trireme.cli import release_options as options
from trireme.cli.console import progress_on_stderr, stdout
from trireme.cli.described import command_for, described_by, save_spec

if TYPE_CHECKING:
    from converters.spec import ExportSpec

RECOMMENDED = "recommended.json"


@described_by(options.COMPARED, required=("checkpoint", "evaluation.path"), usual={"task": options.USUAL_TASK})
def compare(
    described: "ExportSpec",
    prune: options.Shares = None,
    recover_epochs: options.RecoverEpochs = None,
    only: options.Only = None,
    timeout: options.TimeoutS = 1800.0,
    report: options.ReportFolder = Path("reports"),
) -> None:
    """Try every precision of every engine, and recommend one.

    Speed is this machine's. Each candidate is exported into a folder of its own by a process of its own, passes the
    gates or is refused, and is timed; a candidate that fails never stops the rest. Nothing is published: the
    recommended one is printed as a command, and written as a spec file for `trireme export --from`. Of a spec file that
    it is given, engine, precision and pruning are left aside: in these the candidates differ.
    """
    from converters.compare import CompareSpec, NoCandidateError, recommend
    from converters.compare import compare as run
    from converters.compare_report import table_of, write_report
    from converters.spec import PruningSpec
    from trireme.client.answers import comparison_table

    prunings = tuple(PruningSpec(share, recover_epochs or 0) for share in prune or ())
    spec = CompareSpec(described, prunings, tuple(only or ()), timeout)
    with progress_on_stderr("comparing") as progress:
        rows = run(spec, progress)
    stdout.print(comparison_table(*table_of(rows)))
    best = recommend(rows)
    command = command_for(spec.export_of(best.variant)) if best else ""
    write_report(rows, command, report)
    if best is None:
        raise NoCandidateError
    save_spec(spec.export_of(best.variant), report / RECOMMENDED)
    stdout.print(f"recommended: {best.variant}, written to {report / RECOMMENDED}", command, sep="\n", soft_wrap=True)
