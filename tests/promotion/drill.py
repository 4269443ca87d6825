"""The drill: 32 clients at full speed through every move, on one Triton and on two; prints what it saw as a table."""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from promotion.promoter import Promoter, promoting
from promotion.spec import PromotionSpec
from serving import ServerSpec, start
from tests.promotion.load import Load, goldens_of, percentile_ms
from tests.promotion.releases import NAME, make_repository

LIMIT_MS = 250.0
MOVES: tuple[tuple[str, Callable[[Promoter], object]], ...] = (
    ("stage 2", lambda promoter: promoter.stage(2)),
    ("canary 10%", lambda promoter: promoter.canary(2, 10)),
    ("canary 50%", lambda promoter: promoter.canary(2, 50)),
    ("promote 2", lambda promoter: promoter.promote(2)),
    ("rollback", lambda promoter: promoter.rollback()),
    ("promote 2 again", lambda promoter: promoter.promote(2)),
    ("retire 1", lambda promoter: promoter.retire(1)),
)


@dataclass(frozen=True)
class Span:
    """One phase of the drill: from the command's start to the next one's; `took_s` is the command itself."""

    name: str
    start: float
    end: float
    took_s: float


@dataclass(frozen=True)
class Report:
    """What was seen."""

    spans: list[Span]
    load: Load

    @property
    def p99_before_ms(self) -> float:
        """The p99 while nothing moved."""
        first = self.spans[0]
        return percentile_ms(self.load.between(first.start + 1, first.end), 0.99)

    @property
    def slowest_ms(self) -> float:
        """The slowest request from the first move on."""
        return percentile_ms(self.load.between(self.spans[0].end, self.spans[-1].end), 1.0)

    def table(self) -> Table:
        """A line a phase; `of 1` and `of 2` count the answers of each release."""
        table = Table(
            "phase", "command s", "requests", "release 1", "release 2", "failed", "p50 ms", "p99 ms", "max ms"
        )
        for span in self.spans:
            answers = self.load.between(span.start, span.end)
            counts = [sum(answer.release == release for answer in answers) for release in (1, 2, 0)]
            times = [f"{percentile_ms(answers, share):.0f}" for share in (0.5, 0.99, 1.0)]
            table.add_row(span.name, f"{span.took_s:.3f}", str(len(answers)), *map(str, counts), *times)
        return table


def drill(repository: Path, seconds: float, servers: int = 1, clients: int = 32) -> Report:
    """Run all moves under load, spread over so many seconds, on so many Tritons that share one repository."""
    with ExitStack() as stack:
        running = [stack.enter_context(start(ServerSpec(repository, 0, 0, 0))) for _ in range(servers)]
        https, grpcs = [server.http_url for server in running], [server.grpc_url for server in running]
        spec = PromotionSpec(NAME, repository, tuple(grpcs))
        pause_s = seconds / (len(MOVES) + 2)
        with Load(https, grpcs, goldens_of(repository), clients // 2, clients // 2) as load:
            spans = [_span("before", lambda: time.sleep(pause_s), pause_s)]
            spans += [_span(name, lambda move=move: _command(spec, move), pause_s) for name, move in MOVES]
    return Report(spans, load)


def _command(spec: PromotionSpec, move: Callable[[Promoter], object]) -> None:
    with promoting(spec) as promoter:
        move(promoter)


def _span(name: str, action: Callable[[], object], pause_s: float) -> Span:
    started = time.monotonic()
    action()
    took_s = time.monotonic() - started
    time.sleep(max(0.0, pause_s - took_s))
    return Span(name, started, time.monotonic(), took_s)


def main() -> int:
    """Run both drills; exit 1 where one of them saw what may not be."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    console, is_good = Console(), True
    with tempfile.TemporaryDirectory(prefix="trireme-drill-") as folder:
        base = Path(folder) / "base"
        make_repository(base)
        for servers in (1, 2):
            repository = Path(folder) / f"on-{servers}" / "model_repository"
            shutil.copytree(base, repository)
            report = drill(repository, seconds, servers)
            excess_ms = report.slowest_ms - report.p99_before_ms
            is_good &= not report.load.failures and excess_ms <= LIMIT_MS
            console.print(f"{servers} server(s), 16 HTTP and 16 gRPC clients, {seconds:.0f} s", report.table())
            console.print(f"failed: {len(report.load.failures)}; slowest over p99 before: {excess_ms:.0f} ms")
            console.print(*{answer.problem for answer in report.load.failures[:5]})
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
