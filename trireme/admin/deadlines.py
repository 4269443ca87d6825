"""How long an administrator waits for a server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Deadlines:
    """Seconds for a question, for a load and for an unload. A load takes as long as an engine needs to warm up."""

    ask_s: float = 10.0
    load_s: float = 600.0
    unload_s: float = 600.0

    def __post_init__(self) -> None:
        if min(self.ask_s, self.load_s, self.unload_s) <= 0:
            raise ValueError(f"deadlines are positive numbers of seconds: {self}")
