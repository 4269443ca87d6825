"""What is on disk, loaded and answering: read only, without a lock, also while a command is at work."""

from collections.abc import Callable
from dataclasses import dataclass

from text_runtime.manifest import Manifest
from trireme.errors import TriremeError
from trireme.promotion.fleet import Fleet
from trireme.promotion.layout import Traffic
from trireme.promotion.moves import served_traffic
from trireme.promotion.replica import Replica
from trireme.promotion.spec import PromotionSpec


@dataclass(frozen=True)
class ServerRow:
    """One server: the releases it has loaded whole, what its front model says, and which release answered just now."""

    server: str
    loaded: frozenset[int]
    traffic: Traffic | None
    answered: int | None
    problem: str = ""


@dataclass(frozen=True)
class ReleaseRow:
    """One release on disk, and the servers that have it loaded."""

    manifest: Manifest
    loaded_on: tuple[str, ...]
    role: str


def servers_of(spec: PromotionSpec) -> list[ServerRow]:
    """Ask every server; one that fails has a row that says so."""
    with Fleet(spec.targets()) as fleet:
        return fleet.each_living(_safely(lambda replica: _row(spec, replica)))


def releases_of(spec: PromotionSpec) -> list[ReleaseRow]:
    """Every release on disk with what becomes of it."""
    try:
        servers = servers_of(spec)
    except TriremeError:
        servers = []  # the disk can be read without any server
    return [_release_row(spec, servers, release) for release in spec.disk.repository.releases(spec.pipeline)]


def _release_row(spec: PromotionSpec, servers: list[ServerRow], release: int) -> ReleaseRow:
    traffic = spec.disk.layout().traffic
    role = {traffic.current: "current", traffic.candidate: "candidate"}.get(release, "")
    loaded_on = tuple(row.server for row in servers if release in row.loaded)
    return ReleaseRow(spec.disk.repository.manifest(spec.pipeline, release), loaded_on, role)


def _row(spec: PromotionSpec, replica: Replica) -> ServerRow:
    versions = [replica.ready_versions(step) for step in spec.disk.steps]
    traffic = served_traffic(replica, spec.pipeline)
    answered = replica.answering_release(spec.disk)
    return ServerRow(replica.endpoint.grpc, frozenset.intersection(*versions), traffic, answered)


def _safely(ask: Callable[[Replica], ServerRow]) -> Callable[[Replica], ServerRow]:
    def asked(replica: Replica) -> ServerRow:
        try:
            return ask(replica)
        except TriremeError as error:
            return ServerRow(replica.endpoint.grpc, frozenset(), None, None, str(error))

    return asked
