"""The append-only record of every move: `releases/NAME/ledger.jsonl`, one JSON object a line."""

import getpass
import os
import socket
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec

from text_runtime.records import FormatError, require_format
from trireme import __version__
from trireme.errors import RepositoryError

FILE_NAME = "ledger.jsonl"
FORMAT = 1


class Entry(msgspec.Struct, frozen=True, rename={"source": "from", "target": "to"}):
    """One command on one pipeline, with what it rested on and how it ended: `done`, `undone` or `refused`.

    On its line `source` and `target` are called `from` and `to`.
    """

    command: str
    source: int | None
    target: int | None
    outcome: str
    evidence: dict[str, Any] = {}
    time: str = msgspec.field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="milliseconds"))
    actor: str = msgspec.field(default_factory=lambda: actor())
    format: int = FORMAT
    trireme_version: str = __version__


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
            os.write(handle, torn + msgspec.json.encode(entry) + b"\n")
            os.fsync(handle)
        finally:
            os.close(handle)

    def entries(self) -> list[Entry]:
        """All entries, oldest first. A line that a crash tore is passed over.

        Raises:
            RepositoryError: a newer Trireme wrote one of them.
        """
        lines = self.path.read_bytes().splitlines() if self.path.exists() else []
        return [entry for line in lines if (entry := self._parse(line))]

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

    def _parse(self, line: bytes) -> Entry | None:
        try:
            fields = msgspec.json.decode(line)
            require_format(fields, FORMAT, str(self.path))
            return msgspec.convert(fields, Entry)
        except FormatError as error:
            raise RepositoryError(self.path, error.problem, error.remedy) from error
        except ValueError:
            return None


def actor() -> str:
    """Who acts: `TRIREME_ACTOR`, or the user and host."""
    return os.environ.get("TRIREME_ACTOR") or f"{getpass.getuser()}@{socket.gethostname()}"


def _ends_whole(handle: int) -> bool:
    size = os.fstat(handle).st_size
    return size == 0 or os.pread(handle, 1, size - 1) == b"\n"
