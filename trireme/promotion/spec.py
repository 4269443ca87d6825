"""Which pipeline a command moves, and where."""

from dataclasses import dataclass
from pathlib import Path

from trireme.admin import Endpoint
from trireme.contract.repository import Repository
from trireme.errors import RepositoryError
from trireme.promotion.disk import PipelineDisk
from trireme.promotion.intent import IntentFile
from trireme.promotion.ledger import Ledger
from trireme.promotion.servers import find_targets


@dataclass(frozen=True)
class PromotionSpec:
    """A pipeline in a model repository, its servers (none named: the local ones), and where its ledger stands.

    `mlflow` is the URI of a model registry that mirrors the ledger; without one there is no mirror.

    Raises:
        RepositoryError: the repository holds no such pipeline.
    """

    pipeline: str
    repository: Path
    servers: tuple[str, ...] = ()
    ledgers: Path | None = None
    token: str | None = None
    mlflow: str | None = None

    def __post_init__(self) -> None:
        known = Repository(self.repository).pipelines()
        if self.pipeline not in known:
            remedy = f"pipelines in it: {', '.join(known) or 'none'}"
            raise RepositoryError(self.repository, f"holds no pipeline '{self.pipeline}'", remedy)

    @property
    def disk(self) -> PipelineDisk:
        """The pipeline's folders."""
        return PipelineDisk(Repository(self.repository), self.pipeline)

    @property
    def folder(self) -> Path:
        """Where ledger and intent stand: `releases/NAME` beside the model repository, if not told otherwise."""
        return (self.ledgers or self.repository.resolve().parent / "releases") / self.pipeline

    @property
    def ledger(self) -> Ledger:
        """The pipeline's ledger."""
        return Ledger(self.folder)

    @property
    def intents(self) -> IntentFile:
        """The pipeline's intent."""
        return IntentFile(self.folder)

    def targets(self) -> list[Endpoint]:
        """The servers."""
        return find_targets(self.servers, self.repository, self.token)
