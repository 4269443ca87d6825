"""What the worker refuses on purpose, in the parts of which the caller makes its one line."""

from __future__ import annotations


class Refusal(Exception):
    """A folder cannot be served: what is wrong with it, and what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy


def gist(error: BaseException) -> str:
    """The first line of a library's error, without the paragraphs that follow it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300]
