"""Seconds since a move began, by what had been reached."""

import time


class Stopwatch:
    """Starts at once."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self.laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """Note the seconds since the start."""
        self.laps[name] = round(time.monotonic() - self._started, 3)
