"""Deadlines on the clock that a machine's processes share."""

import time

from text_runtime.deadlines import deadline_ns, is_over, latest, timeout_us


def test_without_a_timeout_there_is_no_deadline() -> None:
    assert deadline_ns(0) == 0
    assert timeout_us(0) == 0
    assert not is_over(0)


def test_a_deadline_passes_and_what_is_left_of_it_shrinks() -> None:
    far, near = deadline_ns(60_000_000), deadline_ns(1)
    time.sleep(0.001)
    assert is_over(near)
    assert not is_over(far)
    assert 50_000_000 < timeout_us(far) < 60_000_000
    assert timeout_us(near) == 1  # 0 would be no time-out at all


def test_requests_answered_together_are_waited_for_until_the_last_deadline() -> None:
    assert latest([5, 9, 7]) == 9
    assert latest([5, 0, 7]) == 0
