"""What a command is about to do, written down before it begins, so that the next one can finish or undo it."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from text_runtime.records import FormatError, require_format
from trireme import __version__
from trireme.contract.atomic_files import replace_text
from trireme.errors import RepositoryError
from trireme.promotion.layout import Layout

FILE_NAME = "intent.json"
FORMAT = 1


class Intent(msgspec.Struct, frozen=True):
    """A move that is under way. `is_decided`: everything it needs is loaded and proven, so it is to be finished."""

    command: str
    before: Layout
    after: Layout
    is_decided: bool = False
    target: int | None = None
    id: str = ""
    format: int = FORMAT
    trireme_version: str = __version__

    def decided(self) -> "Intent":
        """The same move past its point of no return."""
        return msgspec.structs.replace(self, is_decided=True)


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
        replace_text(self.path, msgspec.json.encode(intent, order="deterministic").decode())

    def read(self) -> Intent | None:
        """The move that was interrupted, if one was.

        Raises:
            RepositoryError: a newer Trireme wrote it, or it is no intent.
        """
        if not self.path.exists():
            return None
        try:
            fields = msgspec.json.decode(self.path.read_bytes())
            require_format(fields, FORMAT, str(self.path))
            return msgspec.convert(fields, Intent)
        except FormatError as error:
            raise RepositoryError(self.path, error.problem, error.remedy) from error
        except ValueError as error:
            remedy = "remove it, then promote the release that shall answer"
            raise RepositoryError(self.path, f"does not say which move was interrupted ({error})", remedy) from error

    def clear(self) -> None:
        """Nothing is under way any more."""
        self.path.unlink(missing_ok=True)
