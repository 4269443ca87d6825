"""Which requests of a canary the other side is asked too, so that answers to the same texts can be compared."""

import random
import time

SHARE = 0.05
EVERY_S = 0.25


class Sampler:
    """Chooses a share of the requests, and where there are few of them one every so many seconds at least."""

    def __init__(self, share: float = SHARE, every_s: float = EVERY_S) -> None:
        self._share = share
        self._every_s = every_s
        self._last = float("-inf")

    def is_chosen(self) -> bool:
        """Whether the request that came now is one."""
        now = time.monotonic()
        if random.random() >= self._share and now - self._last < self._every_s:
            return False
        self._last = now
        return True
