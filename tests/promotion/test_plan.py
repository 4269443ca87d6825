"""Moves as they are computed, and what a dry run says of them: no server is asked, and none need run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.promotion.releases import NAME
from trireme.errors import TriremeError
from trireme.promotion.intent import Intent
from trireme.promotion.layout import Layout, Traffic
from trireme.promotion.plan import Move, Planner, dry_run
from trireme.promotion.spec import PromotionSpec

SERVER = "127.0.0.1:9"
BOTH = frozenset({1, 2})


@pytest.fixture
def quiet(model_repository: Path) -> PromotionSpec:
    """The pipeline, on a server that does not run."""
    return PromotionSpec(NAME, model_repository, (SERVER,))


def files(root: Path) -> dict[Path, bytes]:
    """Every file below a folder."""
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


DRY: dict[str, tuple[Callable[[Planner], Move], list[str]]] = {
    "stage": (
        lambda planner: planner.stage(2),
        [
            "verified: the bytes of release 2, its contract and the free memory",
            "load release 2 beside 1, also as 'demo_v2'",
            "ask release 2 its golden requests on every server",
        ],
    ),
    "canary": (
        lambda planner: planner.canary(2, 10),
        [
            "verified: the bytes of release 2, its contract and the free memory",
            "load release 2 beside 1, also as 'demo_v2'",
            "ask release 2 its golden requests on every server",
            "switch 'demo' from release 1 to release 1, 10% to release 2, and wait for answers to prove it",
        ],
    ),
    "promote": (
        lambda planner: planner.promote(2),
        [
            "verified: the bytes of release 2, its contract and the free memory",
            "load release 2 beside 1, also as 'demo_v2'",
            "ask release 2 its golden requests on every server",
            "switch 'demo' from release 1 to release 2, and wait for answers to prove it",
        ],
    ),
}


@pytest.mark.parametrize(("plan", "lines"), DRY.values(), ids=DRY)
def test_a_dry_run_prints_what_would_be_done_and_changes_nothing(
    quiet: PromotionSpec, plan: Callable[[Planner], Move], lines: list[str]
) -> None:
    before = files(quiet.repository.parent)
    assert dry_run(quiet, plan(Planner(quiet))) == [f"on {SERVER}:", *lines]
    assert files(quiet.repository.parent) == before


REFUSED: dict[str, tuple[Callable[[Planner], Move], str]] = {
    "a release that is none": (lambda planner: planner.stage(9), "there is no such release"),
    "a canary of the current release": (lambda planner: planner.canary(1, 10), "release 1 is in the way"),
    "a rollback to nothing": (lambda planner: planner.rollback(), "the ledger knows no release before 1"),
    "to retire what answers": (lambda planner: planner.retire(1), "release 1 answers requests"),
    "to retire what is not loaded": (lambda planner: planner.retire(2), "release 2 is not loaded"),
}


@pytest.mark.parametrize(("plan", "words"), REFUSED.values(), ids=REFUSED)
def test_a_dry_run_refuses_what_the_move_itself_refuses(
    quiet: PromotionSpec, plan: Callable[[Planner], Move], words: str
) -> None:
    with pytest.raises(TriremeError, match=words):
        dry_run(quiet, plan(Planner(quiet)))


def test_a_dry_run_finds_a_release_that_was_changed(quiet: PromotionSpec) -> None:
    path = quiet.repository / f"{NAME}_postprocess/2/labels.json"
    path.write_bytes(path.read_bytes().replace(b"good", b"Good"))
    with pytest.raises(TriremeError, match=r"labels\.json was changed"):
        dry_run(quiet, Planner(quiet).promote(2))


def test_a_move_begins_where_the_repair_of_an_interrupted_one_ends(quiet: PromotionSpec) -> None:
    alone, promoted = Layout(frozenset({1}), Traffic(1)), Layout(BOTH, Traffic(2))
    quiet.intents.write(Intent("promote", alone, promoted, target=2, id="x"))
    assert Planner(quiet).stage(2).before == alone
    quiet.intents.write(Intent("promote", alone, promoted, target=2, id="x").decided())
    move = Planner(quiet).retire(1)
    assert (move.before, move.after) == (promoted, Layout(frozenset({2}), Traffic(2)))
    repaired = "first repair what an interrupted command left"
    assert dry_run(quiet, move) == [f"on {SERVER}:", repaired, "unload release 1"]


def test_a_move_that_changes_nothing_says_so(quiet: PromotionSpec) -> None:
    quiet.intents.write(Intent("canary", Layout(BOTH, Traffic(1, 2, 10)), Layout(BOTH, Traffic(1))).decided())
    assert list(Planner(quiet).promote(2).steps(NAME))[-1].startswith("switch 'demo' from release 1 to release 2")
    quiet.intents.clear()
    move = Move("rollback", 1, 1, quiet.disk.layout(), quiet.disk.layout(), is_forced=True)
    assert dry_run(quiet, move) == [f"on {SERVER}:", "nothing: it is so already"]
