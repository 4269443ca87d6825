"""How often a thing may be tried again: at once a few times, then ever more slowly."""

import time
from collections import defaultdict, deque
from collections.abc import Callable

_WINDOW_S = 120.0
_FREE_TRIES = 3
_LONGEST_PAUSE_S = 30.0


class Backoff:
    """Counts tries by name over the last two minutes; the pause doubles from the fourth on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tries: defaultdict[str, deque[float]] = defaultdict(deque)

    def is_due(self, name: str) -> bool:
        """Whether it may be tried now."""
        now, tries = self._clock(), self._tries[name]
        while tries and now - tries[0] > _WINDOW_S:
            tries.popleft()
        excess = len(tries) - _FREE_TRIES
        return excess < 0 or now - tries[-1] >= min(2.0**excess, _LONGEST_PAUSE_S)

    def count(self, name: str) -> None:
        """Note that it is tried now."""
        self._tries[name].append(self._clock())
