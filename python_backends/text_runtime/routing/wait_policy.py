"""How long a canary's router waits for both releases before it takes the next requests."""

import time
from collections.abc import Collection
from concurrent.futures import Future, wait
from typing import Any

_CURRENT_S = 30.0
_BEYOND_S = 1.0
_SLOWER = 2.0
_SLACK_S = 0.02
_WEIGHT = 0.2


class WaitPolicy:
    """Waits for an execution's answers, though never long for a candidate that is slower than the current release.

    Only while an execution lasts does Triton fail its requests should the process die; afterwards it forgets them, and
    they hang. But as long as it lasts, the next requests wait, the current release's too.
    """

    def __init__(self) -> None:
        self._current_s = 0.0
        self._candidate_s = 0.0

    def note(self, is_candidate: bool, seconds: float) -> None:
        """Learn how long a release took."""
        if is_candidate:
            self._candidate_s += _WEIGHT * (seconds - self._candidate_s)
        else:
            self._current_s += _WEIGHT * (seconds - self._current_s)

    def wait(self, current: Collection[Future[Any]], candidate: Collection[Future[Any]]) -> None:
        """Return once all is answered, or what is not is no longer worth the others' waiting."""
        began = time.monotonic()
        wait(current, _CURRENT_S)
        if not self._is_worth_waiting:
            return
        if wait(candidate, _BEYOND_S).not_done:
            self._candidate_s = max(self._candidate_s, time.monotonic() - began)

    @property
    def _is_worth_waiting(self) -> bool:
        return not self._current_s or self._candidate_s <= _SLOWER * self._current_s + _SLACK_S
