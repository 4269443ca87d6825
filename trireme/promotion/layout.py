"""What servers should have loaded of a pipeline, and what answers its requests: as data."""

import msgspec

from text_runtime.routing.split import Split


class Traffic(msgspec.Struct, frozen=True, array_like=True):
    """What answers a pipeline's requests: one release, or two in a canary. Files hold it as a list."""

    current: int
    candidate: int | None = None
    percent: float = 0.0
    is_mirror: bool = False

    @property
    def needed(self) -> frozenset[int]:
        """Every release that gets requests."""
        return frozenset({self.current} if self.candidate is None else {self.current, self.candidate})

    @property
    def releases(self) -> frozenset[int]:
        """Every release that may answer."""
        return frozenset({self.current}) if self.is_mirror else self.needed

    def split(self, pipeline: str) -> Split | None:
        """The canary as the router takes it; None without one."""
        if self.candidate is None:
            return None
        return Split(pipeline, self.current, self.candidate, self.percent, self.is_mirror)

    def __str__(self) -> str:
        if self.candidate is None:
            return f"release {self.current}"
        verb = "mirrored to" if self.is_mirror else "to"
        return f"release {self.current}, {self.percent:g}% {verb} release {self.candidate}"


class Layout(msgspec.Struct, frozen=True):
    """The releases that every server has loaded, and the traffic among them."""

    loaded: frozenset[int]
    traffic: Traffic

    def __post_init__(self) -> None:
        if not self.traffic.needed <= self.loaded:
            raise ValueError(f"{self.traffic} needs releases beyond the loaded {sorted(self.loaded)}")

    def with_loaded(self, release: int) -> "Layout":
        """This layout with one more release loaded."""
        return Layout(self.loaded | {release}, self.traffic)

    def without(self, release: int) -> "Layout":
        """This layout with one release less."""
        return Layout(self.loaded - {release}, self.traffic)

    def answering(self, traffic: Traffic) -> "Layout":
        """This layout with other traffic."""
        return Layout(self.loaded, traffic)

    def __str__(self) -> str:
        return f"{self.traffic} (loaded: {', '.join(map(str, sorted(self.loaded)))})"
