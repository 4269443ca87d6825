"""The committed figures of a benchmark, as `docs/pictures/results.json` holds them."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Served:
    """One server's medians. `name` is short, for the picture; None where it is not pictured."""

    server: str
    name: str | None
    texts_per_s: float
    p50_ms: float
    p99_ms: float
    cpu_ms_per_text: float
    padding_share: float | None = None
    share_of_ceiling: float | None = None

    @property
    def is_ours(self) -> bool:
        """Only of ours a ceiling was measured."""
        return self.share_of_ceiling is not None

    @property
    def ceiling(self) -> float | None:
        """What the same engine does without a server, in texts a second."""
        return self.texts_per_s / self.share_of_ceiling if self.share_of_ceiling else None


@dataclass(frozen=True)
class Model:
    """What was measured of one model, the fastest server first."""

    name: str
    servers: tuple[Served, ...]

    @property
    def pictured(self) -> list[Served]:
        """The servers that the picture shows."""
        return [served for served in self.servers if served.name]


@dataclass(frozen=True)
class Results:
    """One benchmark."""

    requests_in_flight: int
    machine: str
    models: tuple[Model, ...]


def read_results(path: Path) -> Results:
    """The figures of a file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    models = [Model(model["name"], tuple(Served(**row) for row in model["servers"])) for model in content["models"]]
    return Results(content["requests_in_flight"], content["machine"], tuple(models))
