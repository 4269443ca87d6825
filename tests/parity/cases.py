"""The right values of the matrix, and of further cases that the environment names, as they stand in their files."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VALUES = Path(__file__).parents[1] / "testdata" / "parity" / "values"
LONG = "TRIREME_PARITY_LONG"
"""Set to anything, it has the long runs made too."""
FURTHER = "TRIREME_PARITY_CASES"
"""A folder with further cases: `NAME/`, a checkpoint, and `NAME.json`, its values."""


@dataclass(frozen=True)
class RightValues:
    """What one checkpoint must answer, or why it must be refused (a pattern of the error's line).

    `folder` is the checkpoint's; None where it is one of the matrix, which is built by the tests.
    """

    name: str
    task: str
    content: dict[str, Any] = field(repr=False)
    folder: Path | None = None

    @property
    def refused(self) -> str:
        """The pattern; empty for a folder that has an answer."""
        said = str(self.content.get("refused", ""))
        has_answer = any(key in self.content for key in ("scores", "vectors", "pipelines"))
        return said or ("" if has_answer else ".")

    @property
    def texts(self) -> list[str]:
        """What is asked."""
        return list(self.content["texts"])

    @property
    def pairs(self) -> list[str] | None:
        """The second texts, where there are any."""
        return self.content.get("pairs")


def is_long_run() -> bool:
    """Whether the long runs are wanted."""
    return bool(os.environ.get(LONG))


def right_values() -> list[RightValues]:
    """Of the matrix (its long cases in a long run only), then of the folder that the environment names."""
    own = [found for found in _read(VALUES) if is_long_run() or not found.content.get("long")]
    further = os.environ.get(FURTHER)
    return own if not further else [*own, *_further(Path(further))]


def recorded_tags() -> list[RightValues]:
    """Every case whose values hold the tags of tokens, the long ones too: nothing need be built for them."""
    return [found for found in _read(VALUES) if "tokens" in found.content]


def _read(folder: Path) -> Iterator[RightValues]:
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        yield RightValues(path.stem, content["task"], content)


def _further(folder: Path) -> Iterator[RightValues]:
    for found in _read(folder):
        yield RightValues(f"{folder.name}/{found.name}", found.task, found.content, folder / found.name)
