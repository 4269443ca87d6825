"""Commands that move a pipeline between releases."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from trireme.cli.console import stderr, stdout
from trireme.cli.pipeline import Release, on_pipeline
from trireme.text_files import read_rows

if TYPE_CHECKING:
    from trireme.promotion.judge import Verdict
    from trireme.promotion.ledger import Entry
    from trireme.promotion.plan import Move, Planner
    from trireme.promotion.spec import PromotionSpec

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only verify the release, and print what would be done on the servers.")
]
MinAgreement = Annotated[
    float, typer.Option(min=0, max=1, help="Least mean agreement of both releases' answers to the same texts.")
]
Percent = Annotated[float, typer.Option(min=0, max=100, help="Share of requests that it gets.")]


@on_pipeline
def stage(spec: "PromotionSpec", release: Release, dry_run: DryRun = False) -> None:
    """Load a release beside the current one on every server.

    Its golden requests must pass there.
    """
    _run(spec, dry_run, lambda planner: planner.stage(release))


@on_pipeline
def shadow(
    spec: "PromotionSpec",
    release: Release,
    seconds: Annotated[float, typer.Option(min=0, max=1_000_000, help="How long to compare.")] = 30.0,
    texts: Annotated[
        Path | None,
        typer.Option(help="Recorded texts, one a line, or a .jsonl of the task's inputs; by default the golden ones."),
    ] = None,
    live: Annotated[bool, typer.Option(help="Mirror real requests instead.")] = False,
    percent: Percent = 100.0,
    min_agreement: MinAgreement = 0.9,
) -> None:
    """Compare a staged release's answers with the current one's.

    It says how far they agree, and how long both took.

    The exit code is 1 where they agree less than demanded, or where there was nothing to compare.
    """
    from trireme.promotion.shadow import shadow_live, shadow_recorded

    rows = read_rows(texts) if texts else []
    report = shadow_live(spec, release, seconds, percent) if live else shadow_recorded(spec, release, seconds, rows)
    compared = report.compared
    stdout.print(f"{compared.texts} of {report.texts} texts compared, agreement {compared.mean:.2%}", highlight=False)
    table = Table("release", "median ms", "p99 ms")
    for number in report.median_s:
        table.add_row(str(number), f"{report.median_s[number] * 1000:.1f}", f"{report.p99_s[number] * 1000:.1f}")
    stdout.print(table)
    if reason := compared.reason_against(min_agreement):
        stdout.print(f"refused: {reason}", soft_wrap=True, highlight=False)
        raise typer.Exit(1)


@on_pipeline
def canary(
    spec: "PromotionSpec",
    release: Release,
    percent: Percent = 10.0,
    judge: Annotated[bool, typer.Option("--judge", help="Watch it, then promote it or roll it back.")] = False,
    seconds: Annotated[float, typer.Option(min=0, max=1_000_000, help="How long --judge watches.")] = 60.0,
    max_failure_rate: Annotated[float, typer.Option(min=0, max=1, help="Allowed excess of failures.")] = 0.001,
    max_p99_ratio: Annotated[
        float, typer.Option(min=0, max=1_000_000, help="Allowed p99, relative to the current release's.")
    ] = 1.5,
    max_label_shift: Annotated[float, typer.Option(min=0, max=1, help="Allowed shift of the labels' shares.")] = 0.1,
    min_requests: Annotated[int, typer.Option(min=1, help="Requests that each side must have answered.")] = 200,
    min_agreement: MinAgreement = 0.9,
    min_compared: Annotated[int, typer.Option(min=1, help="Texts whose answers by both must be compared.")] = 30,
    dry_run: DryRun = False,
) -> None:
    """Let a release answer a share of the requests.

    Callers with one `key` parameter stay on one side.
    With `--judge` the exit code is 1 where the release was rolled back.
    """
    from trireme.promotion.judge import Thresholds, judge_canary

    limits = Thresholds(max_failure_rate, max_p99_ratio, max_label_shift, min_requests, min_agreement, min_compared)
    _run(spec, dry_run, lambda planner: planner.canary(release, percent))
    if judge and not dry_run:
        verdict = judge_canary(spec, release, seconds, limits)
        _tell(spec, verdict)
        raise typer.Exit(not verdict.is_passed)


@on_pipeline
def promote(spec: "PromotionSpec", release: Release, dry_run: DryRun = False) -> None:
    """Let a release answer everything, on all servers or none.

    The one before stays loaded.
    """
    _run(spec, dry_run, lambda planner: planner.promote(release))


@on_pipeline
def rollback(spec: "PromotionSpec", dry_run: DryRun = False) -> None:
    """End a canary, or go back to the release before."""
    _run(spec, dry_run, lambda planner: planner.rollback())


@on_pipeline
def retire(spec: "PromotionSpec", release: Release, dry_run: DryRun = False) -> None:
    """Unload a release that answers nothing; it stays on disk."""
    _run(spec, dry_run, lambda planner: planner.retire(release))


def _run(spec: "PromotionSpec", is_dry: bool, plan: Callable[["Planner"], "Move"]) -> None:
    """Compute a move, and print it or carry it out."""
    from trireme.promotion.plan import Planner, dry_run
    from trireme.promotion.promoter import promoting

    if is_dry:
        stdout.print("\n".join(dry_run(spec, plan(Planner(spec)))), soft_wrap=True, highlight=False)
        return
    with promoting(spec) as promoter:
        if promoter.recovered:
            stderr.print(promoter.recovered, style="yellow", highlight=False)
        _say(spec, promoter.carry_out(plan(promoter.planner)))


def _say(spec: "PromotionSpec", entry: "Entry") -> None:
    servers, seconds = entry.evidence["servers"], entry.evidence["seconds"]
    line = f"{entry.command} done in {seconds:.2f} s on {len(servers)} server(s): {spec.pipeline} is at"
    stdout.print(f"{line} {spec.disk.layout()}", soft_wrap=True, highlight=False)


def _tell(spec: "PromotionSpec", verdict: "Verdict") -> None:
    table = Table("measure", "current", "candidate", "limit", "passed")
    for row in verdict.findings:
        values = (f"{value:.4g}" for value in (row.current, row.candidate, row.limit))
        table.add_row(row.measure, *values, "yes" if row.is_passed else "no")
    stdout.print(table)
    if verdict.reason:
        stdout.print(f"not promoted: {verdict.reason}", soft_wrap=True, highlight=False)
    _say(spec, verdict.entry)
