"""How fast executions follow each other, which says whether cancelled requests are worth asking for."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

_SLOW_S = 0.05


class ExecutionTime:
    """Of one model instance.

    Whether a request was cancelled is a message to Triton and back for each request. What has just arrived can hardly
    have waited for longer than the execution before took: where that was short, encoding for nobody costs less.
    """

    def __init__(self) -> None:
        self._last_s = 0.0

    @property
    def is_slow(self) -> bool:
        """Whether requests wait for so long that many of them may be cancelled."""
        return self._last_s > _SLOW_S

    @contextmanager
    def execution(self) -> Iterator[None]:
        """One execution, timed."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._last_s = time.monotonic() - began
