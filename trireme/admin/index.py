"""What Triton's repository index says of each version of each model."""

from dataclasses import dataclass

_READY, _UNAVAILABLE, _UNLOADING = "READY", "UNAVAILABLE", "UNLOADING"
_UNLOADED = "unloaded"
_ERROR = "Error"


@dataclass(frozen=True)
class ModelVersion:
    """One row of the index. `version` is empty for a model that was never loaded; `reason` says why it is not there."""

    name: str
    version: str
    state: str
    reason: str

    @property
    def is_ready(self) -> bool:
        """Whether it answers."""
        return self.state == _READY

    @property
    def is_unloading(self) -> bool:
        """Whether it still answers requests in flight before it goes."""
        return self.state == _UNLOADING

    @property
    def is_broken(self) -> bool:
        """Whether it was to be loaded and could not be."""
        return self.state == _UNAVAILABLE and self.reason not in ("", _UNLOADED)


def exception_of(message: str) -> str:
    """The line of a Python traceback that says what is wrong; else the message's first line.

    Triton hands a failed load's traceback on as one string, in which line ends may be written as a backslash and an n.
    """
    lines = [line.strip() for line in message.replace("\\n", "\n").splitlines() if line.strip()]
    return next((line for line in lines if _ERROR in line), lines[0] if lines else "no reason given")
