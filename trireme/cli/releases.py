"""Commands that look at a pipeline's releases and change nothing."""

from typing import TYPE_CHECKING

from rich.table import Table

from trireme.cli.console import stdout
from trireme.cli.pipeline import on_pipeline

if TYPE_CHECKING:
    from trireme.promotion.spec import PromotionSpec


@on_pipeline
def releases(spec: "PromotionSpec") -> None:
    """List a pipeline's releases, with what is known of each.

    It says what is on disk, loaded and answering, and the manifest's facts.
    """
    from trireme.promotion.overview import releases_of

    table = Table("release", "role", "loaded on", "engine", "precision", "created", "source")
    for row in releases_of(spec):
        network, manifest = row.manifest.network, row.manifest
        facts = (network.engine, network.precision, manifest.created_at, manifest.source.name)
        table.add_row(str(manifest.release), row.role, " ".join(row.loaded_on) or "-", *facts)
    stdout.print(table)


@on_pipeline
def status(spec: "PromotionSpec") -> None:
    """Ask every server what is loaded, and what answers."""
    from trireme.promotion.overview import servers_of

    stdout.print(f"{spec.pipeline}: the repository says {spec.disk.layout()}", soft_wrap=True)
    table = Table("server", "loaded", "serves", "answered just now", "problem")
    for row in servers_of(spec):
        loaded = " ".join(map(str, sorted(row.loaded)))
        table.add_row(row.server, loaded, str(row.traffic or "-"), str(row.answered or "-"), row.problem)
    stdout.print(table)


@on_pipeline
def history(spec: "PromotionSpec") -> None:
    """Read a pipeline's ledger: every move, and how it ended."""
    table = Table("time", "actor", "command", "from", "to", "outcome", "seconds", "reason")
    for row in spec.ledger.entries():
        ends = (str(row.source or "-"), str(row.target or "-"))
        facts = (str(row.evidence.get("seconds", "")), str(row.evidence.get("reason", ""))[:80])
        table.add_row(row.time, row.actor, row.command, *ends, row.outcome, *facts)
    stdout.print(table)
