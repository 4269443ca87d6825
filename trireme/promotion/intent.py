"""What a command is about to do, written down before it begins, so that the next one can finish or undo it."""

from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from trireme.promotion.disk import replace_text
from trireme.promotion.layout import Layout, parse_layout

FILE_NAME = "intent.json"


@dataclass(frozen=True)
class Intent:
    """A move that is under way. `is_decided`: everything it needs is loaded and proven, so it is to be finished."""

    command: str
    before: Layout
    after: Layout
    is_decided: bool = False
    target: int | None = None
    id: str = ""

    def decided(self) -> "Intent":
        """The same move past its point of no return."""
        return replace(self, is_decided=True)


@dataclass(frozen=True)
class IntentFile:
    """Where a pipeline's intent stands, beside its ledger. No file: nothing is under way."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / FILE_NAME

    def write(self, intent: Intent) -> None:
        """Write or replace it, durably."""
        self.folder.mkdir(parents=True, exist_ok=True)
        fields = {
            "command": intent.command,
            "before": intent.before.to_dict(),
            "after": intent.after.to_dict(),
            "is_decided": intent.is_decided,
            "target": intent.target,
            "id": intent.id,
        }
        replace_text(self.path, orjson.dumps(fields).decode())

    def read(self) -> Intent | None:
        """The move that was interrupted, if one was."""
        if not self.path.exists():
            return None
        fields = orjson.loads(self.path.read_bytes())
        before, after = parse_layout(fields["before"]), parse_layout(fields["after"])
        return Intent(fields["command"], before, after, fields["is_decided"], fields["target"], fields["id"])

    def clear(self) -> None:
        """Nothing is under way any more."""
        self.path.unlink(missing_ok=True)
