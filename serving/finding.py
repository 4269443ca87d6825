"""What a check of the doctor finds."""

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    name: str
    status: str
    found: str
    remedy: str = ""


def verdict(name: str, is_fit: object, found: str, remedy: str, otherwise: str = WARN) -> Finding:
    """A finding that is ok, or else has a remedy."""
    return Finding(name, OK, found) if is_fit else Finding(name, otherwise, found, remedy)
