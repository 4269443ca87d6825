"""What a command moves, computed from what stands: the promoter carries it out, and a dry run prints it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from text_runtime.routing.split import side_name
from trireme.errors import PromotionError
from trireme.promotion.checks import require_stageable
from trireme.promotion.layout import Layout, Traffic
from trireme.promotion.ledger import Entry
from trireme.promotion.spec import PromotionSpec


@dataclass(frozen=True)
class Move:
    """One command's move, from the layout found to the layout wanted.

    `is_forced`: it makes things safer or smaller, so it passes over servers that fail, and is never taken back.
    """

    command: str
    source: int | None
    target: int | None
    before: Layout
    after: Layout
    evidence: dict[str, Any] = field(default_factory=dict)
    is_forced: bool = False

    def entry(self, outcome: str, **facts: Any) -> Entry:
        """What the ledger says of it."""
        return Entry(self.command, self.source, self.target, outcome, self.evidence | facts)

    def steps(self, pipeline: str) -> Iterator[str]:
        """What is done on every server, a line each; none where all is so already."""
        beside = ", ".join(map(str, sorted(self.before.loaded)))
        for release in sorted(self.after.loaded - self.before.loaded):
            yield f"load release {release} beside {beside}, also as '{side_name(pipeline, release)}'"
        if self.target in self.after.loaded and not self.is_forced:
            yield f"ask release {self.target} its golden requests on every server"
        if self.after.traffic != self.before.traffic:
            switch = f"switch '{pipeline}' from {self.before.traffic} to {self.after.traffic}"
            yield f"{switch}, and wait for answers to prove it"
        for release in sorted(self.before.loaded - self.after.loaded):
            yield f"unload release {release}"


@dataclass(frozen=True)
class Planner:
    """Computes the moves of a pipeline, and refuses those that make no sense now."""

    spec: PromotionSpec

    def stage(self, release: int) -> Move:
        """Load a release beside the current one."""
        before = self._standing()
        return Move("stage", before.traffic.current, release, before, before.with_loaded(release))

    def canary(self, release: int, percent: float, is_mirror: bool = False) -> Move:
        """Let a release answer some of the requests.

        Raises:
            PromotionError: it answers all of them, or another release is in its way.
        """
        before = self._standing()
        current, other = before.traffic.current, before.traffic.candidate
        if release == current or other not in (None, release):
            problem = f"release {other or current} is in the way of a canary of release {release}"
            raise self._refusal(problem, "see `trireme status`, and roll back or promote first")
        after = before.with_loaded(release).answering(Traffic(current, release, percent, is_mirror))
        return Move("canary", current, release, before, after, {"percent": percent})

    def promote(self, release: int, evidence: dict[str, Any] | None = None) -> Move:
        """Let a release answer everything. The one before stays loaded."""
        before = self._standing()
        after = before.with_loaded(release).answering(Traffic(release))
        return Move("promote", before.traffic.current, release, before, after, evidence or {})

    def rollback(self, evidence: dict[str, Any] | None = None) -> Move:
        """End a canary, or go back to the release before.

        Raises:
            PromotionError: there is nothing to go back to.
        """
        before = self._standing()
        source = before.traffic.candidate or before.traffic.current
        target = before.traffic.current if before.traffic.candidate else self._release_before(before)
        after = before.with_loaded(target).answering(Traffic(target))
        return Move("rollback", source, target, before, after, evidence or {}, is_forced=True)

    def retire(self, release: int) -> Move:
        """Unload a release that answers nothing.

        Raises:
            PromotionError: it answers requests, or is not loaded.
        """
        before = self._standing()
        if release in (before.traffic.current, before.traffic.candidate):
            raise self._refusal(f"release {release} answers requests", "promote another first")
        if release not in before.loaded:
            raise self._refusal(f"release {release} is not loaded", "see `trireme releases`")
        return Move("retire", release, None, before, before.without(release), is_forced=True)

    def _standing(self) -> Layout:
        """The layout on disk; where a command was interrupted, the one that its repair will lead to."""
        intent = self.spec.intents.read()
        if intent is None:
            return self.spec.disk.layout()
        return intent.after if intent.is_decided else intent.before

    def _release_before(self, layout: Layout) -> int:
        release = self.spec.ledger.release_before(layout.traffic.current)
        if release is None:
            problem = f"the ledger knows no release before {layout.traffic.current}"
            raise self._refusal(problem, "promote the one that you want")
        return release

    def _refusal(self, problem: str, remedy: str) -> PromotionError:
        return PromotionError(self.spec.pipeline, problem, remedy)


def dry_run(spec: PromotionSpec, move: Move) -> list[str]:
    """What carrying a move out would do, one line each. Nothing is asked or changed on any server.

    Raises:
        TriremeError: the release must not be loaded; all is verified that can be without a server.
    """
    targets = spec.targets()
    lines = [f"on {', '.join(target.grpc for target in targets)}:"]
    if spec.intents.read():
        lines.append("first repair what an interrupted command left")
    if not move.is_forced and move.target is not None:
        require_stageable(spec.disk, targets, move.target)
        lines.append(f"verified: the bytes of release {move.target}, its contract and the free memory")
    steps = list(move.steps(spec.pipeline))
    return [*lines, *(steps or ["nothing: it is so already"])]
