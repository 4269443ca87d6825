"""One request on its way through the two calls that its ensemble makes."""

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from text_runtime.generation.requests import Asked


@dataclass
class Visit:
    """What is known of it: `desk` answers the call that admitted it, `pen` the one that writes.

    `token` is the name by which a router may say that its caller has gone; empty where there is no router.
    """

    asked: Asked
    deadline: int
    desk: Any
    token: str = ""
    pen: Any = None
    beats: int = 0
    failure: Exception | None = None
    is_over: bool = False
    ended_at: float = 0.0
    begun_at: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)
