"""The drill: 32 clients at full speed through every move, on one Triton and on two; prints what it saw as a table."""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from tests.promotion.load import Answer, Load, goldens_of, percentile_ms
from tests.promotion.releases import NAME, make_repository
from trireme.promotion.promoter import Promoter, promoting
from trireme.promotion.spec import PromotionSpec
from trireme.serving import Server, ServerSpec, start
from trireme.serving.process import stubs_of

LIMIT_MS = 250.0
_SETTLE_S = 0.5
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
    """One phase of the drill: from the command's start to the next one's.

    `took_s` is the command itself. `cpu_s` is what all Tritons and their steps used from `settled` to the phase's end,
    when nothing loads or ends any more.
    """

    name: str
    start: float
    end: float
    took_s: float
    settled: float
    cpu_s: float

    def is_moving_under(self, answer: Answer) -> bool:
        """Whether a request was under way while the command ran or its effects settled."""
        return answer.ended >= self.start and answer.ended - answer.seconds <= self.settled


@dataclass(frozen=True)
class Report:
    """What was seen."""

    spans: list[Span]
    load: Load

    @property
    def p99_before_ms(self) -> float:
        """The p99 before anything moved."""
        return percentile_ms(self._before(), 0.99)

    @property
    def excess_ms(self) -> float:
        """The slowest request that was under way during a command, over the p99 before."""
        moves = self.spans[1:]
        during = [answer for answer in self.load.answers if any(span.is_moving_under(answer) for span in moves)]
        return percentile_ms(during, 1.0) - self.p99_before_ms

    @property
    def excess_before_ms(self) -> float:
        """The same before anything moved: the only time whose slow requests no move can have caused."""
        return percentile_ms(self._before(), 1.0) - self.p99_before_ms

    @property
    def excess_between_ms(self) -> float:
        """The same between the moves and after them: what they may leave behind."""
        quiet = [each for span in self.spans[1:] for each in self.load.between(span.settled + _SETTLE_S, span.end)]
        return percentile_ms(quiet, 1.0) - self.p99_before_ms

    def cpu_ms(self, span: Span) -> float:
        """CPU time of the servers by request, once the phase's command has settled."""
        answers = self.load.between(span.settled, span.end)
        return span.cpu_s * 1000 / len(answers) if answers else 0.0

    def verdict(self) -> str:
        """One line. There is no verdict on latency where the limit was broken before anything moved."""
        spans = {"before": self.excess_before_ms, "during": self.excess_ms, "between": self.excess_between_ms}
        times = ", ".join(f"{excess_ms:.0f} ms {name}" for name, excess_ms in spans.items())
        kept = "kept" if self.excess_ms <= LIMIT_MS else "broken"
        verdict = kept if self.excess_before_ms <= LIMIT_MS else "not judged, as it was broken before the moves"
        counts = f"failed: {len(self.load.failures)} of {len(self.load.answers)}"
        return f"{counts}; slowest over the p99 before: {times} the moves; limit of {LIMIT_MS:.0f} ms: {verdict}"

    def table(self) -> Table:
        """A line a phase; `release 1` and `release 2` count the answers of each."""
        counts = ("requests", "release 1", "release 2", "failed")
        table = Table("phase", "command s", *counts, "p50 ms", "p99 ms", "max ms", "CPU ms/request", "of before")
        for span in self.spans:
            answers = self.load.between(span.start, span.end)
            numbers = [sum(answer.release == release for answer in answers) for release in (1, 2, 0)]
            times = [f"{percentile_ms(answers, share):.0f}" for share in (0.5, 0.99, 1.0)]
            cpu = f"{self.cpu_ms(span):.2f}", f"{self.cpu_ms(span) / self.cpu_ms(self.spans[0]):.2f}"
            table.add_row(span.name, f"{span.took_s:.3f}", str(len(answers)), *map(str, numbers), *times, *cpu)
        return table

    def _before(self) -> list[Answer]:
        return self.load.between(self.spans[0].settled, self.spans[0].end)


def drill(repository: Path, seconds: float, servers: int = 1, clients: int = 32) -> Report:
    """Run all moves under load, spread over so many seconds, on so many Tritons that share one repository."""
    with ExitStack() as stack:
        running = [stack.enter_context(start(ServerSpec(repository, 0, 0, 0))) for _ in range(servers)]
        https, grpcs = [server.http_url for server in running], [server.grpc_url for server in running]
        spec = PromotionSpec(NAME, repository, tuple(grpcs))
        pause_s = seconds / (len(MOVES) + 2)
        with Load(https, grpcs, goldens_of(repository), clients // 2, clients // 2) as load:
            spans = [_span("before", lambda: time.sleep(1), pause_s, running)]
            spans += [_span(name, lambda move=move: _command(spec, move), pause_s, running) for name, move in MOVES]
    return Report(spans, load)


def _command(spec: PromotionSpec, move: Callable[[Promoter], object]) -> None:
    with promoting(spec) as promoter:
        move(promoter)


def _span(name: str, action: Callable[[], object], pause_s: float, running: Sequence[Server]) -> Span:
    started = time.monotonic()
    action()
    took_s = time.monotonic() - started
    time.sleep(_SETTLE_S)
    settled, before = time.monotonic(), _cpu_s(running)
    time.sleep(max(_SETTLE_S, started + pause_s - settled))
    used_s = sum(used_s - before.get(pid, 0.0) for pid, used_s in _cpu_s(running).items())
    return Span(name, started, time.monotonic(), took_s, settled, used_s)


def _cpu_s(running: Sequence[Server]) -> dict[int, float]:
    """CPU seconds so far of every process of the Tritons."""
    used = {}
    for server in running:
        for process in (psutil.Process(server.pid), *stubs_of(server.pid)):
            with suppress(psutil.NoSuchProcess):  # a retired one may just end
                used[process.pid] = sum(process.cpu_times()[:2])
    return used


def main() -> int:
    """Run both drills; exit 1 where a request failed. Latency is told only: other work on the machine adds to it."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    console, failures = Console(width=150), []
    with tempfile.TemporaryDirectory(prefix="trireme-drill-") as folder:
        base = Path(folder) / "base"
        make_repository(base)
        for servers in (1, 2):
            repository = Path(folder) / f"on-{servers}" / "model_repository"
            shutil.copytree(base, repository)
            report = drill(repository, seconds, servers)
            console.print(f"{servers} server(s), 16 HTTP and 16 gRPC clients, {seconds:.0f} s", report.table())
            console.print(report.verdict(), soft_wrap=True)
            failures += report.load.failures
    console.print(*{answer.problem for answer in failures}, sep="\n", style="red")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
