"""Which release answers a request during a canary: by weight, or by the caller's key."""

import hashlib
import random
from dataclasses import dataclass
from typing import Any

_RESOLUTION = 1_000_000


def side_name(pipeline: str, release: int) -> str:
    """The ensemble that answers from one loaded release, whichever one the pipeline itself answers from."""
    return f"{pipeline}_v{release}"


@dataclass(frozen=True)
class Split:
    """Two releases that share a pipeline's requests; `percent` of them go to the candidate.

    With `is_mirror` the current release answers everything, and the candidate gets a copy of its share.
    """

    pipeline: str
    current: int
    candidate: int
    percent: float
    is_mirror: bool = False

    def __post_init__(self) -> None:
        if self.current == self.candidate:
            raise ValueError(f"release {self.current} cannot be a canary beside itself")
        if not 0 <= self.percent <= 100:
            raise ValueError(f"percent {self.percent} is not between 0 and 100")

    def is_candidates(self, key: str | None) -> bool:
        """Whether a request is the candidate's. The same key always gets the same side; a raised percentage only adds
        keys to the candidate's side."""
        point = random.random() if key is None else self._point(key)
        return point * 100 < self.percent

    def _point(self, key: str) -> float:
        digest = hashlib.blake2b(f"{self.pipeline}/{self.candidate}/{key}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % _RESOLUTION / _RESOLUTION


def texts_of(config: dict[str, Any]) -> dict[str, str]:
    """The parameters of a router model's config, as Triton hands it to a Python backend."""
    return {name: value["string_value"] for name, value in config["parameters"].items()}


def key_of(parameters: dict[str, Any]) -> str | None:
    """The user's key among a request's own parameters; None where it names none."""
    key = parameters.get("key")
    return None if key is None else str(key)


def parse_split(pipeline: str, parameters: dict[str, str]) -> Split:
    """The split that a router model's parameters describe.

    Raises:
        ValueError: a parameter is missing or makes no sense.
    """
    try:
        return Split(
            pipeline,
            int(parameters["current"]),
            int(parameters["candidate"]),
            float(parameters["percent"]),
            parameters.get("mirror") == "true",
        )
    except KeyError as error:
        raise ValueError(f"the router of '{pipeline}' lacks the parameter {error}") from error
