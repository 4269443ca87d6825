"""When a request is sent again: only where the server did not answer it, which for an inference is always safe."""

from dataclasses import dataclass
from typing import Any

from tenacity import retry_if_exception_type, stop_after_attempt, stop_before_delay, wait_exponential_jitter

from trireme.client.exchange import Call
from trireme.errors import UnavailableError


@dataclass(frozen=True)
class Retries:
    """At most so many attempts, with waits that double from `first_wait_s` to `longest_wait_s`, jittered.

    A refused or reset connection, UNAVAILABLE and 503 are tried again while the call has time. A time-out is the
    caller's and a refused input stays refused: neither is.
    """

    attempts: int = 4
    first_wait_s: float = 0.1
    longest_wait_s: float = 2.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or not 0 < self.first_wait_s <= self.longest_wait_s:
            raise ValueError(f"{self} makes no attempt, or waits backwards")

    def options(self, call: Call) -> dict[str, Any]:
        """What tenacity is told for one request of a call."""
        return {
            "retry": retry_if_exception_type(UnavailableError),
            "stop": stop_after_attempt(self.attempts) | stop_before_delay(call.remaining_s),
            "wait": wait_exponential_jitter(self.first_wait_s, self.longest_wait_s, jitter=self.first_wait_s),
            "reraise": True,
        }
