"""Brings every server of a pipeline from whatever it has loaded to one layout.

The order keeps every request answered: what will be needed is loaded first, then the traffic is switched in one reload
of the pipeline's small front model, and only then is anything unloaded. Each piece looks before it acts, so that a move
may be repeated from any point at which it was interrupted, in either direction.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from text_runtime.metrics.generation_metrics import RUNNING
from text_runtime.routing.split import side_name
from trireme.errors import LoadError, ServerError
from trireme.promotion.configs import traffic_of
from trireme.promotion.disk import PipelineDisk
from trireme.promotion.fleet import Fleet
from trireme.promotion.layout import Layout, Traffic
from trireme.promotion.replica import Replica

_PROOF_S = 10.0
_PROOFS = 3
_STREAMS_S = 300.0
_POLL_S = 0.5  # as often as the steps tell their counts
_QUIET = 3


@dataclass(frozen=True)
class Mover:
    """Moves one pipeline on all its servers. With `is_patient`, a server that fails does not stop the others' move."""

    disk: PipelineDisk
    fleet: Fleet
    is_patient: bool = False

    def move(self, target: Layout) -> None:
        """Bring disk and servers to a layout, and prove it by every server's answers.

        Raises:
            FleetError: a server could not follow.
        """
        self.widen(target)
        self.switch(target.traffic)
        self.narrow(target)

    def widen(self, target: Layout) -> None:
        """Load what the target needs beside what is loaded, each release under its own name too."""
        releases = self.disk.layout().loaded | target.loaded
        self.disk.write_steps(releases)
        self._each(lambda replica: self._add_to_steps(replica, target.loaded))
        for release in target.loaded:
            self.disk.write_side(release)
        self._each(lambda replica: self._load_sides(replica, target.loaded))

    def switch(self, traffic: Traffic) -> None:
        """Change what answers, and wait until every server's answers say so."""
        self.disk.write_traffic(traffic)
        self._each(lambda replica: self._load_front(replica, traffic))
        self._each(lambda replica: self._prove(replica, traffic))

    def narrow(self, target: Layout) -> None:
        """Unload what the target does not need."""
        extra = [release for release in self.disk.repository.sides(self.disk.pipeline) if release not in target.loaded]
        self._each(lambda replica: self._unload_sides(replica, target.loaded))
        for release in extra:
            self.disk.remove_side(release)
        self.disk.remove_router()
        if extra and self.disk.is_streamed:
            self._each(lambda replica: self._wait_for_streams(replica, extra))
        self.disk.write_steps(target.loaded)
        self._each(lambda replica: self._load_steps(replica, target.loaded))

    def _each(self, action: Callable[[Replica], None]) -> None:
        if self.is_patient:
            self.fleet.each_living(action)
        else:
            self.fleet.each(action)

    def _load_steps(self, replica: Replica, releases: frozenset[int]) -> None:
        for model in self.disk.steps:
            if replica.ready_versions(model) != releases:
                replica.load(model)

    def _add_to_steps(self, replica: Replica, needed: frozenset[int]) -> None:
        """Load what is missing. What else the configs name may be broken, and an undo must get past it."""
        for model in self.disk.steps:
            if needed <= replica.ready_versions(model):
                continue
            try:
                replica.load(model)
            except LoadError:
                if not needed <= replica.ready_versions(model):
                    raise

    def _load_sides(self, replica: Replica, releases: frozenset[int]) -> None:
        for release in sorted(releases):
            model = side_name(self.disk.pipeline, release)
            if replica.ready_versions(model) != {release}:
                replica.load(model)

    def _unload_sides(self, replica: Replica, kept: frozenset[int]) -> None:
        for release in self.disk.repository.releases(self.disk.pipeline):
            model = side_name(self.disk.pipeline, release)
            if release not in kept and replica.ready_versions(model):
                replica.unload(model)

    def _wait_for_streams(self, replica: Replica, releases: Collection[int]) -> None:
        """Wait for the streams of releases that nobody can ask any more: their steps may not go before them.

        An ensemble's answer is several calls of its steps, and a stream's last one may be minutes away. The steps' own
        counts tell it: Triton's state of an ensemble does not, where a caller has given up at the wrong moment.
        """
        deadline, quiet = time.monotonic() + _STREAMS_S, 0
        while quiet < _QUIET:
            quiet = 0 if running_streams(replica, self.disk.pipeline, releases) else quiet + 1
            if time.monotonic() > deadline:
                problem = f"streams still run on release {', '.join(map(str, releases))} of '{self.disk.pipeline}'"
                raise ServerError(replica.endpoint.grpc, problem, "repeat the command when they have ended")
            time.sleep(_POLL_S)

    def _load_front(self, replica: Replica, traffic: Traffic) -> None:
        if served_traffic(replica, self.disk.pipeline) != traffic:
            replica.load(self.disk.pipeline)

    def _prove(self, replica: Replica, traffic: Traffic) -> None:
        """The switch overlaps for a moment; a few answers in a row from the right side end it."""
        deadline, proofs = time.monotonic() + _PROOF_S, 0
        while proofs < _PROOFS:
            release = replica.answering_release(self.disk)
            is_right = release in _expected(traffic)
            proofs = proofs + 1 if is_right else 0
            if not is_right and time.monotonic() > deadline:
                problem = f"still answers from release {release} of '{self.disk.pipeline}'"
                raise ServerError(replica.endpoint.grpc, problem, "repeat the command")
        if served_traffic(replica, self.disk.pipeline) != traffic:
            raise ServerError(replica.endpoint.grpc, f"does not serve {traffic}", "repeat the command")


def _expected(traffic: Traffic) -> frozenset[int | None]:
    """What an answer may say of its release: old Tritons cannot pass on what a router adds."""
    return traffic.needed if traffic.candidate is None else traffic.releases | {None}


def served_traffic(replica: Replica, pipeline: str) -> Traffic | None:
    """What a server sends a pipeline's requests to; None where it is not loaded."""
    return traffic_of(replica.config(pipeline)) if replica.ready_versions(pipeline) else None


def running_streams(replica: Replica, pipeline: str, releases: Collection[int]) -> int:
    """The answers that are being written, or wait to be, by releases of a pipeline."""
    wanted = {str(release) for release in releases}
    return int(
        sum(
            sample.value
            for sample in replica.metrics()
            if sample.name in RUNNING and sample.labels["pipeline"] == pipeline and sample.labels["release"] in wanted
        )
    )
