"""Commands that move a pipeline between releases."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from trireme.commands.console import REPOSITORY, RepositoryOption, stderr, stdout

if TYPE_CHECKING:
    from promotion.layout import Layout
    from promotion.ledger import Entry
    from promotion.promoter import Promoter
    from promotion.spec import PromotionSpec

Name = Annotated[str, typer.Argument(help="The pipeline's name.")]
Release = Annotated[int, typer.Argument(help="The release's number.", min=1)]
Servers = Annotated[
    list[str] | None,
    typer.Option("--server", "-s", help="`host:port` for gRPC, or a DNS name of all replicas; repeat it."),
]
Ledgers = Annotated[Path | None, typer.Option(help="Where ledgers stand; by default `releases/` beside it.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print what would be done.")]


def releases(
    name: Name, servers: Servers = None, repository: RepositoryOption = REPOSITORY, ledgers: Ledgers = None
) -> None:
    """List a pipeline's releases: what is on disk, loaded and answering, with the manifest's facts."""
    from promotion.overview import releases_of

    table = Table("release", "role", "loaded on", "engine", "precision", "created", "source")
    for row in releases_of(_spec(name, servers, repository, ledgers)):
        encoder, manifest = row.manifest.encoder, row.manifest
        facts = (encoder.engine, encoder.precision, manifest.created_at, manifest.source.name)
        table.add_row(str(manifest.release), row.role, " ".join(row.loaded_on) or "-", *facts)
    stdout.print(table)


def status(
    name: Name, servers: Servers = None, repository: RepositoryOption = REPOSITORY, ledgers: Ledgers = None
) -> None:
    """Ask every server what it has loaded and which release answers."""
    from promotion.overview import servers_of

    spec = _spec(name, servers, repository, ledgers)
    stdout.print(f"{name}: the repository says {spec.disk.layout()}", soft_wrap=True)
    table = Table("server", "loaded", "serves", "answered just now", "problem")
    for row in servers_of(spec):
        loaded = " ".join(map(str, sorted(row.loaded)))
        table.add_row(row.server, loaded, str(row.traffic or "-"), str(row.answered or "-"), row.problem)
    stdout.print(table)


def stage(
    name: Name,
    release: Release,
    servers: Servers = None,
    repository: RepositoryOption = REPOSITORY,
    ledgers: Ledgers = None,
    dry_run: DryRun = False,
) -> None:
    """Load a release beside the current one on every server; its golden requests must pass there."""
    spec = _spec(name, servers, repository, ledgers)
    _run(spec, dry_run, lambda before: before.with_loaded(release), lambda promoter: promoter.stage(release))


def shadow(
    name: Name,
    release: Release,
    seconds: Annotated[float, typer.Option(help="How long to compare.")] = 30.0,
    texts: Annotated[Path | None, typer.Option(help="Recorded texts, one a line; by default the golden ones.")] = None,
    live: Annotated[bool, typer.Option(help="Mirror real requests instead.")] = False,
    servers: Servers = None,
    repository: RepositoryOption = REPOSITORY,
    ledgers: Ledgers = None,
) -> None:
    """Compare a staged release with the current one: label agreement and latency."""
    from promotion.shadow import shadow_live, shadow_recorded

    spec = _spec(name, servers, repository, ledgers)
    lines = [line for line in texts.read_text(encoding="utf-8").splitlines() if line] if texts else []
    report = shadow_live(spec, release, seconds) if live else shadow_recorded(spec, release, seconds, lines)
    stdout.print(f"{report.texts} texts, {report.agreement:.2%} with the same label", highlight=False)
    table = Table("release", "median ms", "p99 ms")
    for number in report.median_s:
        table.add_row(str(number), f"{report.median_s[number] * 1000:.1f}", f"{report.p99_s[number] * 1000:.1f}")
    stdout.print(table)


def canary(
    name: Name,
    release: Release,
    percent: Annotated[float, typer.Option(min=0, max=100, help="Share of requests that it answers.")] = 10.0,
    judge: Annotated[bool, typer.Option("--judge", help="Watch it, then promote it or roll it back.")] = False,
    seconds: Annotated[float, typer.Option(help="How long --judge watches.")] = 60.0,
    max_failure_rate: Annotated[float, typer.Option(help="Allowed excess of failures, 0 to 1.")] = 0.001,
    max_p99_ratio: Annotated[float, typer.Option(help="Allowed p99 relative to the current release's.")] = 1.5,
    max_label_shift: Annotated[float, typer.Option(help="Allowed shift of the label distribution, 0 to 1.")] = 0.1,
    min_requests: Annotated[int, typer.Option(help="Requests that each side must have seen.")] = 200,
    servers: Servers = None,
    repository: RepositoryOption = REPOSITORY,
    ledgers: Ledgers = None,
    dry_run: DryRun = False,
) -> None:
    """Let a release answer a share of the requests; callers with one `key` parameter stay on one side."""
    from promotion.judge import Thresholds, judge_canary
    from promotion.layout import Traffic

    spec = _spec(name, servers, repository, ledgers)
    limits = Thresholds(max_failure_rate, max_p99_ratio, max_label_shift, min_requests)
    _run(
        spec,
        dry_run,
        lambda before: before.with_loaded(release).answering(Traffic(before.traffic.current, release, percent)),
        lambda promoter: promoter.canary(release, percent),
    )
    if judge and not dry_run:
        entry, findings = judge_canary(spec, release, seconds, limits)
        table = Table("measure", "current", "candidate", "limit", "passed")
        for row in findings:
            values = (f"{value:.4g}" for value in (row.current, row.candidate, row.limit))
            table.add_row(row.measure, *values, "yes" if row.is_passed else "no")
        stdout.print(table)
        _say(spec, entry)
        raise typer.Exit(entry.command == "rollback")


def promote(
    name: Name,
    release: Release,
    servers: Servers = None,
    repository: RepositoryOption = REPOSITORY,
    ledgers: Ledgers = None,
    dry_run: DryRun = False,
) -> None:
    """Let a release answer everything, on all servers or on none; the one before stays loaded."""
    from promotion.layout import Traffic

    spec = _spec(name, servers, repository, ledgers)
    _run(
        spec,
        dry_run,
        lambda before: before.with_loaded(release).answering(Traffic(release)),
        lambda promoter: promoter.promote(release),
    )


def rollback(
    name: Name,
    servers: Servers = None,
    repository: RepositoryOption = REPOSITORY,
    ledgers: Ledgers = None,
    dry_run: DryRun = False,
) -> None:
    """End a canary, or go back to the release before."""
    spec = _spec(name, servers, repository, ledgers)
    _run(spec, dry_run, lambda before: _rolled_back(spec, before), lambda promoter: promoter.rollback())


def retire(
    name: Name,
    release: Release,
    servers: Servers = None,
    repository: RepositoryOption = REPOSITORY,
    ledgers: Ledgers = None,
    dry_run: DryRun = False,
) -> None:
    """Unload a release that answers nothing; it stays on disk."""
    spec = _spec(name, servers, repository, ledgers)
    _run(spec, dry_run, lambda before: before.without(release), lambda promoter: promoter.retire(release))


def history(name: Name, repository: RepositoryOption = REPOSITORY, ledgers: Ledgers = None) -> None:
    """Read a pipeline's ledger: every move, by whom, and how it ended."""
    table = Table("time", "actor", "command", "from", "to", "outcome", "seconds", "reason")
    for row in _spec(name, None, repository, ledgers).ledger.entries():
        ends = (str(row.source or "-"), str(row.target or "-"))
        facts = (str(row.evidence.get("seconds", "")), str(row.evidence.get("reason", ""))[:80])
        table.add_row(row.time, row.actor, row.command, *ends, row.outcome, *facts)
    stdout.print(table)


def _spec(name: str, servers: list[str] | None, repository: Path, ledgers: Path | None) -> "PromotionSpec":
    from promotion.spec import PromotionSpec

    return PromotionSpec(name, repository, tuple(servers or ()), ledgers)


def _run(
    spec: "PromotionSpec",
    is_dry: bool,
    change: Callable[["Layout"], "Layout"],
    action: Callable[["Promoter"], "Entry"],
) -> None:
    from promotion.plan import plan
    from promotion.promoter import promoting

    if is_dry:
        before = spec.disk.layout()
        stdout.print("\n".join(plan(spec, before, change(before))), soft_wrap=True, highlight=False)
        return
    with promoting(spec) as promoter:
        if promoter.recovered:
            stderr.print(promoter.recovered, style="yellow", highlight=False)
        _say(spec, action(promoter))


def _say(spec: "PromotionSpec", entry: "Entry") -> None:
    servers, seconds = entry.evidence["servers"], entry.evidence["seconds"]
    line = f"{entry.command} done in {seconds:.2f} s on {len(servers)} server(s): {spec.pipeline} is at"
    stdout.print(f"{line} {spec.disk.layout()}", soft_wrap=True, highlight=False)


def _rolled_back(spec: "PromotionSpec", before: "Layout") -> "Layout":
    from promotion.layout import Traffic

    target = before.traffic.current if before.traffic.candidate else None
    target = target or spec.ledger.release_before(before.traffic.current) or before.traffic.current
    return before.with_loaded(target).answering(Traffic(target))


COMMANDS = (releases, stage, shadow, canary, promote, rollback, retire, status, history)
