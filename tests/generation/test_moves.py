"""Releases that write are moved while streams run, on a real Triton: nothing is lost, and no stream is mixed."""

import shutil
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.generation.nonsense import add_nonsense
from tests.generation.running import running_sequences
from tests.waiting import until
from text_runtime.tasks.text_generation import Piece, whole
from trireme.client import Client
from trireme.errors import FleetError
from trireme.promotion.agreement import Agreement
from trireme.promotion.judge import Thresholds, compare
from trireme.promotion.metrics import Side, read_counts
from trireme.promotion.promoter import promoting
from trireme.promotion.shadow import shadow_recorded
from trireme.promotion.spec import PromotionSpec
from trireme.serving import Server, ServerSpec, start

pytestmark = pytest.mark.xdist_group("generation-moves")
PROMPTS = ("Once upon a time", "The river", "A database", "My favourite book")


@pytest.fixture(scope="module")
def moved_repository(writer_repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy to move, with a third release that writes nonsense."""
    copy = shutil.copytree(writer_repository, tmp_path_factory.mktemp("moves") / "models")
    add_nonsense(copy, "writer")
    return Path(copy)


@pytest.fixture(scope="module")
def server(moved_repository: Path) -> Iterator[Server]:
    """A Triton that serves release 1 of it."""
    with start(ServerSpec(moved_repository, 0, 0, 0)) as running:
        yield running


@pytest.fixture(scope="module")
def spec(moved_repository: Path, server: Server) -> PromotionSpec:
    """The pipeline on that Triton."""
    return PromotionSpec("writer", moved_repository, (server.grpc_url,))


class Reader(threading.Thread):
    """A caller that reads one stream to its end."""

    def __init__(self, server: Server, prompt: str, tokens: int = 120) -> None:
        super().__init__()
        self._server, self._prompt, self._tokens = server, prompt, tokens
        self.pieces: list[Piece] = []
        self.failure: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            with Client(f"grpc://{self._server.grpc_url}", "writer", 120) as client:
                for piece in client.stream(self._prompt, temperature=0, max_tokens=self._tokens, ignore_eos=True):
                    self.pieces.append(piece)
        except Exception as error:
            self.failure = error

    def releases(self) -> set[int | None]:
        """The releases that wrote its pieces."""
        return {piece.release for piece in self.pieces}


def streaming(server: Server, tokens: int = 120) -> list[Reader]:
    """Readers of which each has its first piece."""
    readers = [Reader(server, prompt, tokens) for prompt in PROMPTS]
    until(lambda: all(reader.pieces for reader in readers), 60)
    return readers


def finished(readers: list[Reader]) -> list[Reader]:
    """The readers, when their streams have ended."""
    for reader in readers:
        reader.join(120)
        assert reader.failure is None
        assert whole(reader.pieces).num_output_tokens == reader._tokens
    return readers


def test_streams_end_on_the_release_that_began_them_through_promotion_and_rollback(
    server: Server, spec: PromotionSpec
) -> None:
    with promoting(spec) as promoter:
        promoter.stage(2)
        old = streaming(server)
        entry = promoter.promote(2)
        new = streaming(server)
        promoter.rollback()
    assert all(reader.releases() == {1} for reader in finished(old))
    assert all(reader.releases() == {2} for reader in finished(new))
    assert entry.evidence["switched_s"] < 30
    assert [reader.releases() for reader in finished([Reader(server, "Hello", 4)])] == [{1}]


def test_a_release_is_unloaded_when_its_last_stream_has_ended(server: Server, spec: PromotionSpec) -> None:
    with promoting(spec) as promoter:
        promoter.promote(2)
        readers = streaming(server, 200)
        promoter.rollback()
        promoter.retire(2)  # waits for the streams
    assert all(reader.releases() == {2} for reader in finished(readers))
    until(lambda: not running_sequences(server), 5)


@pytest.mark.drill
@pytest.mark.timeout(1800)
def test_sixty_moves_mix_no_answers_and_leave_nothing_behind(server: Server, spec: PromotionSpec) -> None:
    texts: dict[tuple[str, int | None], set[str]] = defaultdict(set)
    ended = threading.Event()

    def read(prompt: str) -> int:
        count = 0
        with Client(f"grpc://{server.grpc_url}", "writer", 120) as client:
            while not ended.is_set():
                pieces = list(client.stream(prompt, temperature=0, max_tokens=24, ignore_eos=True))
                (release,) = {piece.release for piece in pieces}
                answer = whole(pieces)
                assert answer.num_output_tokens == 24
                texts[prompt, release].add(answer.text)
                count += 1
        return count

    with promoting(spec) as promoter, ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read, prompt) for prompt in PROMPTS]
        for _ in range(30):
            promoter.promote(2)
            promoter.rollback()
        ended.set()
        assert all(reader.result() > 60 for reader in readers)
        promoter.retire(2)
    assert {len(found) for found in texts.values()} == {1}  # a release writes the same text each time
    assert len(texts) == 2 * len(PROMPTS)
    until(lambda: not running_sequences(server), 5)


@dataclass
class Counted:
    """What the router counted of a canary: each release's side, and how far both agree."""

    sides: dict[int, Side] = field(default_factory=dict)
    agreement: Agreement = Agreement()


@contextmanager
def canary(server: Server, spec: PromotionSpec, release: int) -> Iterator[tuple[Client, Counted]]:
    """Let a release answer half of the requests, and unload it afterwards; what was counted is there at the end."""
    with promoting(spec) as promoter:
        promoter.canary(release, 50)
    before, counted = read_counts(spec.targets(), "writer", (1, release)), Counted()
    with Client(f"grpc://{server.grpc_url}", "writer", 60) as client:
        yield client, counted
    time.sleep(1.5)  # counters are told twice a second
    after = read_counts(spec.targets(), "writer", (1, release))
    counted.sides = {number: after.sides[number].minus(before.sides[number]) for number in (1, release)}
    counted.agreement = after.agreement - before.agreement
    with promoting(spec) as promoter:
        promoter.rollback()
        promoter.retire(release)


def test_a_canary_splits_streams_and_counts_both_sides(server: Server, spec: PromotionSpec) -> None:
    with canary(server, spec, 2) as (client, counted):
        for index in range(16):
            assert client.generate("The sea", key=str(index), temperature=0, max_tokens=4).num_output_tokens == 4
    sides = counted.sides.values()
    assert min(side.requests for side in sides) >= 3
    assert sum(side.requests for side in sides) >= 16  # the server's own probes are among them
    assert all(1 <= side.mean_tokens <= 4 and not side.failures for side in sides)
    assert counted.agreement.texts > 0


def test_a_caller_who_leaves_during_a_canary_is_heard_of_on_either_side(server: Server, spec: PromotionSpec) -> None:
    with canary(server, spec, 2) as (client, counted):
        for index in range(8):
            stream = client.stream("The sea", key=str(index), max_tokens=2000, ignore_eos=True)
            next(stream)
            stream.close()
        until(lambda: not running_sequences(server), 2)
    assert all(not side.failures for side in counted.sides.values())


def test_shadow_tells_a_release_that_writes_alike_from_one_that_writes_nonsense(
    server: Server, spec: PromotionSpec, moved_repository: Path
) -> None:
    agreements = {}
    for release in (2, 3):
        with promoting(spec) as promoter:
            promoter.stage(release)
        agreements[release] = shadow_recorded(spec, release, 3.0).agreement
        with promoting(spec) as promoter:
            promoter.retire(release)
    assert agreements[2] > 0.75  # other roundings, few tokens
    assert agreements[3] < 0.5


def test_a_canary_of_nonsense_is_refused_by_the_first_tokens_alone(server: Server, spec: PromotionSpec) -> None:
    with canary(server, spec, 3) as (client, counted):
        for index in range(24):
            client.generate(PROMPTS[index % 4], temperature=0, max_tokens=3)
            time.sleep(0.1)
    limits = Thresholds(requests=1, compared=5)
    findings = compare(counted.sides[1], counted.sides[3], counted.agreement, limits)
    assert "agreement" in {finding.measure for finding in findings if not finding.is_passed}


def test_a_release_whose_answers_are_not_the_recorded_ones_is_not_staged(
    spec: PromotionSpec, moved_repository: Path
) -> None:
    add_nonsense(moved_repository, "writer", has_own_golden=False)
    with promoting(spec) as promoter, pytest.raises(FleetError, match="answers are like the recorded ones to"):
        promoter.stage(4)


def test_streams_are_judged_by_the_time_between_tokens_and_the_length_of_answers() -> None:
    def side(gap_s: float, tokens: int) -> Side:
        return Side(
            100, 0, Counter({0.1: 100, float("inf"): 100}), Counter(), 100 * tokens, 99 * gap_s * tokens, 99 * tokens
        )

    current = side(0.02, 50)
    for candidate, refused in ((side(0.02, 50), set()), (side(0.05, 50), {"seconds between tokens"}),
                               (side(0.02, 10), {"ratio of answer lengths"})):  # fmt: skip
        findings = compare(current, candidate, Agreement(100, 100), Thresholds(requests=100))
        assert {finding.measure for finding in findings if not finding.is_passed} == refused
