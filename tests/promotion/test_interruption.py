"""Servers and commands that die in the middle of a move."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.promotion.load import Answer, Load, goldens_of
from tests.promotion.releases import NAME
from trireme.errors import FleetError
from trireme.promotion.layout import Traffic
from trireme.promotion.moves import Mover
from trireme.promotion.overview import servers_of
from trireme.promotion.promoter import promoting
from trireme.promotion.spec import PromotionSpec
from trireme.serving import Server, ServerSpec, start
from trireme.serving.process import model_of, stubs_of

pytestmark = pytest.mark.drill
_ENDLESS_MOVES = """
import sys
from pathlib import Path
from trireme.promotion.promoter import promoting
from trireme.promotion.spec import PromotionSpec

spec = PromotionSpec("demo", Path(sys.argv[1]), (sys.argv[2],))
moves = [
    lambda promoter: promoter.stage(2),
    lambda promoter: promoter.canary(2, 30),
    lambda promoter: promoter.promote(2),
    lambda promoter: promoter.rollback(),
    lambda promoter: promoter.retire(2),
]
sys.stdout.write("ready\\n")
sys.stdout.flush()
while True:
    for move in moves:
        with promoting(spec) as promoter:
            try:
                move(promoter)
            except Exception as error:
                sys.stderr.write(f"{error}\\n")
"""


def test_a_replica_killed_in_the_middle_of_a_promotion_is_named_and_the_other_stays_whole(
    model_repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start(ServerSpec(model_repository, 0, 0, 0)) as first, start(ServerSpec(model_repository, 0, 0, 0)) as second:
        spec = PromotionSpec(NAME, model_repository, (first.grpc_url, second.grpc_url))
        alone = PromotionSpec(NAME, model_repository, (first.grpc_url,))
        switch = Mover.switch

        def kill_and_switch(mover: Mover, traffic: Traffic) -> None:
            if not mover.is_patient:
                os.kill(second.pid, signal.SIGKILL)
            switch(mover, traffic)

        with Load([first.http_url], [first.grpc_url], goldens_of(model_repository), 4, 4) as load:
            monkeypatch.setattr(Mover, "switch", kill_and_switch)
            with promoting(spec) as promoter, pytest.raises(FleetError, match=second.grpc_url):
                promoter.promote(2)
            monkeypatch.undo()
            (row,) = servers_of(alone)
            assert (row.answered, row.traffic) == (1, Traffic(1))
            _wait_until_back(second)
            with promoting(spec) as promoter:
                promoter.promote(2)
            assert [row.answered for row in servers_of(spec)] == [2, 2]
        assert load.failures == []


def _wait_until_back(server: Server) -> None:
    """Supervision starts a dead Triton again."""
    spec = PromotionSpec(NAME, server._launch.spec.repository, (server.grpc_url,))
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if servers_of(spec)[0].answered:
            return
        time.sleep(0.2)
    raise AssertionError("the killed server did not come back")


def test_a_command_killed_at_random_points_is_repaired_by_the_next(server: Server, spec: PromotionSpec) -> None:
    _kill_and_repair(server, spec, times=3)


def test_a_command_killed_at_ten_random_points_is_repaired_by_the_next(server: Server, spec: PromotionSpec) -> None:
    _kill_and_repair(server, spec, times=10)


def _kill_and_repair(server: Server, spec: PromotionSpec, times: int) -> None:
    """Kill a process that moves all the time; whatever it left, the next command brings disk and server together."""
    chance, interrupted = random.Random(), 0
    with Load([server.http_url], [server.grpc_url], goldens_of(spec.repository), 4, 4) as load:
        for _ in range(times):
            arguments = [sys.executable, "-c", _ENDLESS_MOVES, str(spec.repository), server.grpc_url]
            with subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as process:
                assert process.stdout is not None
                process.stdout.readline()
                time.sleep(chance.uniform(0.02, 1.5))
                process.kill()
            interrupted += spec.intents.read() is not None
            with promoting(spec) as promoter:
                assert spec.intents.read() is None
                layout = spec.disk.layout()
                promoter.stage(2)
            (row,) = servers_of(spec)
            assert row.traffic == layout.traffic
            assert row.loaded == layout.loaded | {2}
    assert load.failures == []
    assert interrupted


@pytest.fixture
def in_canary(spec: PromotionSpec) -> PromotionSpec:
    """Half of the requests go to release 2."""
    with promoting(spec) as promoter:
        promoter.canary(2, 50)
    return spec


def kill_under_load(server: Server, spec: PromotionSpec, model: str) -> tuple[float, list[Answer]]:
    """Kill a model's processes under sixteen clients; gives the time, and all answers."""
    with Load([server.http_url], [server.grpc_url], goldens_of(spec.repository), 8, 8) as load:
        time.sleep(2)
        victims = [stub for stub in stubs_of(server.pid) if model_of(stub) == model]
        killed = time.monotonic()
        for stub in victims:
            stub.kill()
        time.sleep(8)
    assert victims
    assert any(answer.ended - answer.seconds < killed < answer.ended for answer in load.answers)
    assert all(answer.release for answer in load.answers if answer.ended < killed)
    assert max(answer.ended for answer in load.answers) > killed + 7
    return killed, load.answers


@pytest.mark.parametrize("model", [NAME, f"{NAME}_tokenizer", f"{NAME}_encoder", f"{NAME}_postprocess"])
def test_answers_resume_within_five_seconds_of_a_process_killed_under_load_and_nobody_hangs(
    server: Server, in_canary: PromotionSpec, model: str
) -> None:
    killed, answers = kill_under_load(server, in_canary, model)
    assert all(answer.release for answer in answers if answer.ended > killed + 5)
    assert max(answer.seconds for answer in answers) < 5
    with promoting(in_canary) as promoter:
        assert promoter.promote(2).evidence["switched_s"] < 10
