"""A canary's router waits for both releases, but never long for a candidate that is slower than the current one."""

import threading
import time
from concurrent.futures import Future

import pytest

from text_runtime.routing import wait_policy
from text_runtime.routing.wait_policy import WaitPolicy

LONG_S = 60.0


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_policy, "_BEYOND_S", 0.1)


def answering(seconds: float) -> Future[None]:
    """An answer that comes after so long."""
    future: Future[None] = Future()
    timer = threading.Timer(seconds, future.set_result, [None])
    timer.daemon = True
    timer.start()
    return future


def taught(current_s: float, candidate_s: float) -> WaitPolicy:
    """One that has seen both releases at work."""
    learned = WaitPolicy()
    for _ in range(50):
        learned.note(False, current_s)
        learned.note(True, candidate_s)
    return learned


@pytest.mark.parametrize("learned", [WaitPolicy(), taught(0.02, 0.03), taught(1.0, 1.5)], ids=["new", "quick", "slow"])
def test_releases_alike_are_both_waited_for(learned: WaitPolicy) -> None:
    current, candidate = answering(0.02), answering(0.06)
    learned.wait([current], [candidate])
    assert current.done()
    assert candidate.done()


def test_the_current_release_is_waited_for_even_where_it_is_the_slower_one() -> None:
    current, candidate = answering(0.2), answering(0.0)
    taught(2.0, 0.01).wait([current], [candidate])
    assert current.done()


def test_a_candidate_that_is_usually_slower_is_not_waited_for() -> None:
    current, candidate = answering(0.0), answering(LONG_S)
    began = time.monotonic()
    taught(0.01, 0.2).wait([current], [candidate])
    assert current.done()
    assert time.monotonic() - began < 0.1


def test_a_candidate_that_hangs_is_waited_for_once_and_again_when_it_has_come_back() -> None:
    learned, hanging = taught(0.01, 0.01), answering(LONG_S)
    learned.wait([answering(0.0)], [hanging])
    began = time.monotonic()
    learned.wait([answering(0.0)], [hanging])
    assert time.monotonic() - began < 0.1
    for _ in range(50):
        learned.note(True, 0.01)
    candidate = answering(0.03)
    learned.wait([], [candidate])
    assert candidate.done()


def test_a_candidate_that_answers_alone_is_waited_for() -> None:
    learned = WaitPolicy()
    learned.note(True, 3.0)
    candidate = answering(0.03)
    learned.wait([], [candidate])
    assert candidate.done()
