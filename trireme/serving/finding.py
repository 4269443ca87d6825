"""What a check of the doctor, or of a model repository, finds."""

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True)
class Finding:
    """One thing looked at: a part of the machine, or a file of a repository. `check` is the rule that found it."""

    name: str
    status: str
    found: str
    remedy: str = ""
    check: str = ""


def verdict(name: str, is_fit: object, found: str, remedy: str, otherwise: str = WARN) -> Finding:
    """A finding that is ok, or else has a remedy."""
    return Finding(name, OK, found) if is_fit else Finding(name, otherwise, found, remedy)
