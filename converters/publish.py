"""Publishes a release: built beside, renamed into place, or not there at all."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tritonclient.grpc.model_config_pb2 import ModelConfig

from text_runtime.manifest import FILE_NAME, Manifest, sha256_of
from trireme.contract.configs import ensemble_config, render, step_config
from trireme.contract.pipelines import CHAIN, Contract
from trireme.contract.repository import CONFIG_NAME, Repository
from trireme.errors import ContractError, PublishError

_PARTIAL = ".partial-"
_log = logging.getLogger(__name__)


class Draft:
    """A release that is being built: hidden folders beside the ones that it will be renamed to.

    Triton takes no notice of version folders whose names are not numbers.
    """

    def __init__(self, repository: Repository, contract: Contract, release: int) -> None:
        self._repository = repository
        self._contract = contract
        self.release = release
        self.folders = [self._hidden(folder) for folder in _folders(repository, contract)]
        self.steps = {step: self._hidden(repository.root / contract.model_of(step)) for step in CHAIN}

    @property
    def ensemble(self) -> Path:
        """The ensemble's folder, the last of all `folders`."""
        return self.folders[-1]

    def publish(self, manifest: Manifest) -> Manifest:
        """Write the manifest into every folder and rename them, the ensemble last; gives the final manifest."""
        final = replace(manifest, files=self._hashes())
        folders = self.folders
        for folder in folders:
            (folder / FILE_NAME).write_bytes(final.to_json())
        self._write_configs()
        for folder in folders:
            target = folder.parent / str(self.release)
            if target.exists():
                _log.warning("removing %s: a publication that never ended left it", target)
                shutil.rmtree(target)
            folder.rename(target)
        return final

    def _hidden(self, folder: Path) -> Path:
        return folder / f"{_PARTIAL}{self.release}"

    def _hashes(self) -> dict[str, str]:
        files = [path for folder in self.folders for path in sorted(folder.rglob("*")) if path.is_file()]
        return {f"{path.parent.parent.name}/{path.name}": sha256_of(path) for path in files}

    def _write_configs(self) -> None:
        """Only a new pipeline gets configs: from then on they are its contract, and only pins move."""
        for path, config in _configs(self._repository, self._contract, self.release).items():
            if not path.exists():
                path.write_text(render(config), encoding="utf-8")


@contextmanager
def draft(repository: Repository, contract: Contract) -> Iterator[Draft]:
    """The next release's draft. Whatever goes wrong inside, the repository is as it was afterwards.

    Raises:
        ContractError: the pipeline exists with another contract.
        PublishError: a file could not be written.
    """
    _require_same_contract(repository, contract)
    made = [path for path in (repository.root, *_folders(repository, contract)) if not path.exists()]
    release = max(repository.releases(contract.pipeline), default=0) + 1
    current = Draft(repository, contract, release)
    try:
        for folder in current.folders:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        yield current
    except BaseException as error:
        _undo(repository, contract, current, made)
        if isinstance(error, OSError):
            raise PublishError(repository.root, error) from error
        raise


def _undo(repository: Repository, contract: Contract, current: Draft, made: list[Path]) -> None:
    for folder in _folders(repository, contract):
        for name in (f"{_PARTIAL}{current.release}", str(current.release)):
            shutil.rmtree(folder / name, ignore_errors=True)
    for path in reversed(made):
        shutil.rmtree(path, ignore_errors=True)


def _folders(repository: Repository, contract: Contract) -> list[Path]:
    """All folders of a pipeline, the ensemble's last, whether they exist or not."""
    names = (step.model_name(contract.pipeline) for step in contract.steps)
    return [*(repository.root / name for name in names), repository.pipeline_folder(contract.pipeline)]


def _configs(repository: Repository, contract: Contract, release: int) -> dict[Path, ModelConfig]:
    steps = (step_config(contract, step, [release]) for step in contract.steps)
    configs = (*steps, ensemble_config(contract, release))
    return {
        folder / CONFIG_NAME: config for folder, config in zip(_folders(repository, contract), configs, strict=True)
    }


def _require_same_contract(repository: Repository, contract: Contract) -> None:
    """Compare what clients and steps rely on: names, types, dims, ragged flags, batch size, and shapes on a GPU."""
    has_pipeline = repository.pipeline_folder(contract.pipeline).exists()
    if has_pipeline and repository.steps(contract.pipeline) != contract.steps:
        raise ContractError(contract.pipeline, f"its steps are {'separate' if contract.instances else 'joined'}")
    parts = ["input", "output", "max_batch_size", "backend", "platform"]
    if contract.gpu:
        parts += ["model_warmup", "optimization"]
    for path, wanted in _configs(repository, contract, 1).items():
        if not path.exists():
            continue
        found = repository.config(path.parent.name)
        for part in parts:
            if getattr(found, part) != getattr(wanted, part):
                raise ContractError(contract.pipeline, f"{part} of {wanted.name} differs")
