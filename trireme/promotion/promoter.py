"""The moves themselves: each is written down, checked on all servers, switched on all, proven, and recorded."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from trireme.contract.locking import exclusive
from trireme.errors import FleetError, PromotionError, TriremeError
from trireme.promotion.checks import require_stageable
from trireme.promotion.disk import PipelineDisk
from trireme.promotion.fleet import Fleet
from trireme.promotion.golden import require_golden
from trireme.promotion.intent import Intent
from trireme.promotion.layout import Layout, Traffic
from trireme.promotion.ledger import Entry
from trireme.promotion.mirror import mirror
from trireme.promotion.moves import Mover
from trireme.promotion.recovery import recover
from trireme.promotion.spec import PromotionSpec
from trireme.promotion.stopwatch import Stopwatch


@dataclass(frozen=True)
class Step:
    """One command's move, from the layout found to the layout wanted."""

    command: str
    source: int | None
    target: int | None
    before: Layout
    after: Layout
    evidence: dict[str, Any] = field(default_factory=dict)

    def entry(self, outcome: str, **facts: Any) -> Entry:
        """What the ledger says of it."""
        return Entry(self.command, self.source, self.target, outcome, self.evidence | facts)


@contextmanager
def promoting(spec: PromotionSpec) -> Iterator["Promoter"]:
    """A promoter that holds the pipeline's lock and has finished or undone whatever was interrupted.

    However its moves end, the registry that mirrors the ledger follows once the lock is free again.

    Raises:
        BusyError: another command is at work on the pipeline.
    """
    folder = spec.disk.repository.pipeline_folder(spec.pipeline)
    with ExitStack() as unlocked, exclusive(folder, spec.pipeline), Fleet(spec.targets()) as fleet:
        unlocked.callback(mirror, spec)
        yield Promoter(spec, fleet, recover(spec, fleet))


class Promoter:
    """Moves one pipeline. Get it from `promoting`; `recovered` says what it had to repair first."""

    def __init__(self, spec: PromotionSpec, fleet: Fleet, recovered: str) -> None:
        self.spec = spec
        self.fleet = fleet
        self.recovered = recovered

    @property
    def disk(self) -> PipelineDisk:
        """The pipeline's folders."""
        return self.spec.disk

    def stage(self, release: int) -> Entry:
        """Load a release beside the current one on every server, and let it prove itself there.

        Raises:
            TriremeError: it was refused; the servers are as they were.
        """
        before = self.disk.layout()
        step = Step("stage", before.traffic.current, release, before, before.with_loaded(release))
        return self._move(step, release)

    def canary(self, release: int, percent: float, is_mirror: bool = False) -> Entry:
        """Let a release answer some of the requests.

        Raises:
            TriremeError: it was refused; the servers are as they were.
        """
        before = self.disk.layout()
        current, other = before.traffic.current, before.traffic.candidate
        if release == current or other not in (None, release):
            problem = f"release {other or current} is in the way of a canary of release {release}"
            raise PromotionError(self.spec.pipeline, problem, "see `trireme status`, and roll back or promote first")
        after = before.with_loaded(release).answering(Traffic(current, release, percent, is_mirror))
        return self._move(Step("canary", current, release, before, after, {"percent": percent}), release)

    def promote(self, release: int, evidence: dict[str, Any] | None = None) -> Entry:
        """Let a release answer everything, on all servers or on none. The one before stays loaded.

        Raises:
            TriremeError: it was refused or a server failed; every server that lives answers as before.
        """
        before = self.disk.layout()
        after = before.with_loaded(release).answering(Traffic(release))
        return self._move(Step("promote", before.traffic.current, release, before, after, evidence or {}), release)

    def rollback(self, evidence: dict[str, Any] | None = None) -> Entry:
        """End a canary, or go back to the release before. A server that is down does not hold it up.

        Raises:
            PromotionError: there is nothing to go back to.
            FleetError: a server was left out; all others answer from the release before.
        """
        before = self.disk.layout()
        source = before.traffic.candidate or before.traffic.current
        target = before.traffic.current if before.traffic.candidate else self._release_before(before)
        after = before.with_loaded(target).answering(Traffic(target))
        step = Step("rollback", source, target, before, after, evidence or {})
        return self._force(step)

    def retire(self, release: int) -> Entry:
        """Unload a release that answers nothing.

        Raises:
            PromotionError: it answers requests, or is not loaded.
        """
        before, traffic = self.disk.layout(), self.disk.layout().traffic
        if release in (traffic.current, traffic.candidate):
            raise PromotionError(self.spec.pipeline, f"release {release} answers requests", "promote another first")
        if release not in before.loaded:
            raise PromotionError(self.spec.pipeline, f"release {release} is not loaded", "see `trireme releases`")
        return self._force(Step("retire", release, None, before, before.without(release)))

    def _release_before(self, layout: Layout) -> int:
        release = self.spec.ledger.release_before(layout.traffic.current)
        if release is None:
            problem = f"the ledger knows no release before {layout.traffic.current}"
            raise PromotionError(self.spec.pipeline, problem, "promote the one that you want")
        return release

    def _move(self, step: Step, release: int) -> Entry:
        """Two phases: load and prove everywhere; then switch everywhere. What fails is undone everywhere."""
        watch, mover = Stopwatch(), Mover(self.disk, self.fleet)
        try:
            manifest = require_stageable(self.disk, self.fleet, release)
        except TriremeError as error:
            self.spec.ledger.append(step.entry("refused", reason=str(error)))
            raise
        intent = Intent(step.command, step.before, step.after, target=step.target, id=uuid.uuid4().hex)
        self.spec.intents.write(intent)
        try:
            if release not in step.before.loaded:
                mover.narrow(step.before)  # a leftover of the same number would be taken for the new release
            mover.widen(step.after)
            self.fleet.each(lambda control: require_golden(control, self.disk, release))
            watch.lap("staged_s")
            self.spec.intents.write(intent.decided())
            mover.switch(step.after.traffic)
            watch.lap("switched_s")
            mover.narrow(step.after)
        except BaseException as error:
            self._undo(step, error)
            raise
        gates = {row.gate: row.detail for row in manifest.gates}
        return self._done(step, intent, watch, {"gates": gates})

    def _undo(self, step: Step, error: BaseException) -> None:
        Mover(self.disk, self.fleet, is_patient=True).move(step.before)
        self.spec.ledger.append(step.entry("undone", reason=str(error), servers=self.fleet.addresses))
        self.spec.intents.clear()
        if isinstance(error, FleetError):
            raise FleetError(error.failures, f"every server that answers is back at {step.before.traffic}") from error

    def _force(self, step: Step) -> Entry:
        """A move that makes things safer or smaller: it passes over servers that fail, and is never taken back."""
        watch = Stopwatch()
        intent = Intent(step.command, step.before, step.after, True, step.target, uuid.uuid4().hex)
        self.spec.intents.write(intent)
        mover = Mover(self.disk, self.fleet, is_patient=True)
        mover.widen(step.after)
        watch.lap("staged_s")
        mover.switch(step.after.traffic)
        watch.lap("switched_s")
        mover.narrow(step.after)
        entry = self._done(step, intent, watch, {"lost": sorted(self.fleet.lost)} if self.fleet.lost else {})
        if self.fleet.lost:
            raise FleetError(
                self.fleet.lost, f"all others serve {step.after.traffic}; a server reads it when it starts"
            )
        return entry

    def _done(self, step: Step, intent: Intent, watch: Stopwatch, facts: dict[str, Any]) -> Entry:
        watch.lap("seconds")
        entry = step.entry("done", id=intent.id, servers=self.fleet.addresses, **facts, **watch.laps)
        self.spec.ledger.append(entry)
        self.spec.intents.clear()
        return entry
