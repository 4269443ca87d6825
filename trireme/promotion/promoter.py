"""The moves themselves: each is written down, checked on all servers, switched on all, proven, and recorded."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from trireme.contract.locking import exclusive
from trireme.errors import FleetError, TriremeError
from trireme.promotion.checks import require_stageable
from trireme.promotion.disk import PipelineDisk
from trireme.promotion.fleet import Fleet
from trireme.promotion.golden import require_golden
from trireme.promotion.intent import Intent
from trireme.promotion.ledger import Entry
from trireme.promotion.mlflow_sync import sync_mlflow
from trireme.promotion.moves import Mover
from trireme.promotion.plan import Move, Planner
from trireme.promotion.recovery import recover
from trireme.promotion.spec import PromotionSpec
from trireme.promotion.stopwatch import Stopwatch


@contextmanager
def promoting(spec: PromotionSpec) -> Iterator["Promoter"]:
    """A promoter that holds the pipeline's lock and has finished or undone whatever was interrupted.

    However its moves end, the registry that mirrors the ledger follows once the lock is free again.

    Raises:
        BusyError: another command is at work on the pipeline.
    """
    folder = spec.disk.repository.pipeline_folder(spec.pipeline)
    with ExitStack() as unlocked, exclusive(folder, spec.pipeline), Fleet(spec.targets()) as fleet:
        unlocked.callback(sync_mlflow, spec)
        yield Promoter(spec, fleet, recover(spec, fleet))


class Promoter:
    """Moves one pipeline. Get it from `promoting`; `recovered` says what it had to repair first."""

    def __init__(self, spec: PromotionSpec, fleet: Fleet, recovered: str) -> None:
        self.spec = spec
        self.planner = Planner(spec)
        self.fleet = fleet
        self.recovered = recovered

    @property
    def disk(self) -> PipelineDisk:
        """The pipeline's folders."""
        return self.spec.disk

    def carry_out(self, move: Move) -> Entry:
        """Make a move that `planner` has computed under this lock.

        Raises:
            FleetError: a server was left out of a forced move; all others made it.
            TriremeError: it was refused or a server failed; every server that lives answers as before.
        """
        return self._force(move) if move.is_forced else self._move(move)

    def stage(self, release: int) -> Entry:
        """Load a release beside the current one on every server, and let it prove itself there."""
        return self.carry_out(self.planner.stage(release))

    def canary(self, release: int, percent: float, is_mirror: bool = False) -> Entry:
        """Let a release answer some of the requests."""
        return self.carry_out(self.planner.canary(release, percent, is_mirror))

    def promote(self, release: int, evidence: dict[str, Any] | None = None) -> Entry:
        """Let a release answer everything, on all servers or on none. The one before stays loaded."""
        return self.carry_out(self.planner.promote(release, evidence))

    def rollback(self, evidence: dict[str, Any] | None = None) -> Entry:
        """End a canary, or go back to the release before. A server that is down does not hold it up."""
        return self.carry_out(self.planner.rollback(evidence))

    def retire(self, release: int) -> Entry:
        """Unload a release that answers nothing."""
        return self.carry_out(self.planner.retire(release))

    def _move(self, move: Move) -> Entry:
        """Two phases: load and prove everywhere; then switch everywhere. What fails is undone everywhere."""
        watch, mover = Stopwatch(), Mover(self.disk, self.fleet)
        release = move.target
        assert release is not None  # only what is retired leads to no release, and that is forced
        try:
            manifest = require_stageable(self.disk, self.fleet.targets, release)
        except TriremeError as error:
            self.spec.ledger.append(move.entry("refused", reason=str(error)))
            raise
        intent = Intent(move.command, move.before, move.after, target=move.target, id=uuid.uuid4().hex)
        self.spec.intents.write(intent)
        try:
            if release not in move.before.loaded:
                mover.narrow(move.before)  # a leftover of the same number would be taken for the new release
            mover.widen(move.after)
            self.fleet.each(lambda control: require_golden(control, self.disk, release))
            watch.lap("staged_s")
            self.spec.intents.write(intent.decided())
            mover.switch(move.after.traffic)
            watch.lap("switched_s")
            mover.narrow(move.after)
        except BaseException as error:
            self._undo(move, error)
            raise
        gates = {row.gate: row.detail for row in manifest.gates}
        return self._done(move, intent, watch, {"gates": gates})

    def _undo(self, move: Move, error: BaseException) -> None:
        Mover(self.disk, self.fleet, is_patient=True).move(move.before)
        self.spec.ledger.append(move.entry("undone", reason=str(error), servers=self.fleet.addresses))
        self.spec.intents.clear()
        if isinstance(error, FleetError):
            raise FleetError(error.failures, f"every server that answers is back at {move.before.traffic}") from error

    def _force(self, move: Move) -> Entry:
        """See `Move.is_forced`."""
        watch = Stopwatch()
        intent = Intent(move.command, move.before, move.after, True, move.target, uuid.uuid4().hex)
        self.spec.intents.write(intent)
        mover = Mover(self.disk, self.fleet, is_patient=True)
        mover.widen(move.after)
        watch.lap("staged_s")
        mover.switch(move.after.traffic)
        watch.lap("switched_s")
        mover.narrow(move.after)
        entry = self._done(move, intent, watch, {"lost": sorted(self.fleet.lost)} if self.fleet.lost else {})
        if self.fleet.lost:
            raise FleetError(
                self.fleet.lost, f"all others serve {move.after.traffic}; a server reads it when it starts"
            )
        return entry

    def _done(self, move: Move, intent: Intent, watch: Stopwatch, facts: dict[str, Any]) -> Entry:
        watch.lap("seconds")
        entry = move.entry("done", id=intent.id, servers=self.fleet.addresses, **facts, **watch.laps)
        self.spec.ledger.append(entry)
        self.spec.intents.clear()
        return entry
