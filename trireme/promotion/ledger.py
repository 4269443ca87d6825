"""The append-only record of every move: `releases/NAME/ledger.jsonl`, one JSON object a line."""

import getpass
import os
import socket
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import orjson

FILE_NAME = "ledger.jsonl"


@dataclass(frozen=True)
class Entry:
    """One command on one pipeline, with what it rested on and how it ended: `done`, `undone` or `refused`."""

    command: str
    source: int | None
    target: int | None
    outcome: str
    evidence: dict[str, Any] = field(default_factory=dict)
    time: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="milliseconds"))
    actor: str = field(default_factory=lambda: actor())

    def to_json(self) -> bytes:
        """One line; `source` and `target` are called `from` and `to` there."""
        fields = {{"source": "from", "target": "to"}.get(name, name): value for name, value in asdict(self).items()}
        return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


@dataclass(frozen=True)
class Ledger:
    """One pipeline's ledger, in a folder beside the model repository."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / FILE_NAME

    def append(self, entry: Entry) -> None:
        """Add an entry; it is on the disk when this returns."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            torn = b"" if _ends_whole(handle) else b"\n"
            os.write(handle, torn + entry.to_json())
            os.fsync(handle)
        finally:
            os.close(handle)

    def entries(self) -> list[Entry]:
        """All entries, oldest first. A line that a crash tore is passed over."""
        lines = self.path.read_bytes().splitlines() if self.path.exists() else []
        return [entry for line in lines if (entry := _parse(line))]

    def release_before(self, current: int) -> int | None:
        """The release that was promoted before the current one, each rollback taking a promotion back."""
        stack: list[int] = []
        for entry in self.entries():
            if entry.outcome != "done" or entry.target is None or entry.source is None:
                continue
            if entry.command == "promote":
                stack = [*(stack or [entry.source]), entry.target]
            elif entry.command == "rollback" and entry.target in stack:
                stack = stack[: len(stack) - stack[::-1].index(entry.target)]
        return stack[-2] if len(stack) > 1 and stack[-1] == current else None


def actor() -> str:
    """Who acts: `TRIREME_ACTOR`, or the user and host."""
    return os.environ.get("TRIREME_ACTOR") or f"{getpass.getuser()}@{socket.gethostname()}"


def _ends_whole(handle: int) -> bool:
    size = os.fstat(handle).st_size
    return size == 0 or os.pread(handle, 1, size - 1) == b"\n"


def _parse(line: bytes) -> Entry | None:
    try:
        fields = orjson.loads(line)
        return Entry(
            fields["command"],
            fields["from"],
            fields["to"],
            fields["outcome"],
            fields["evidence"],
            fields["time"],
            fields["actor"],
        )
    except (ValueError, KeyError, TypeError):
        return None
