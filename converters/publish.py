"""Publishes a release: built beside, renamed into place, or not there at all."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tritonclient.grpc.model_config_pb2 import ModelConfig

from text_runtime.manifest import FILE_NAME, Manifest, sha256_of
from trireme.contract.atomic_files import replace_text
from trireme.contract.compatibility import require_kept, with_added_outputs
from trireme.contract.configs import ensemble_config, render, step_config
from trireme.contract.pipelines import Contract, PipelineContract
from trireme.contract.repository import CONFIG_NAME, Repository
from trireme.errors import ContractError, PublishError, RepositoryError

_PARTIAL = ".partial-"
Told = TypeVar("Told", bound=Manifest)
_log = logging.getLogger(__name__)


class Draft:
    """A release that is being built: hidden folders beside the ones that it will be renamed to.

    Triton takes no notice of version folders whose names are not numbers.
    """

    def __init__(self, repository: Repository, contract: PipelineContract, release: int) -> None:
        self._repository = repository
        self._contract = contract
        self.release = release
        self.replaced: dict[Path, str] = {}
        """What stood in the configs that this release has changed."""
        self.folders = [self._hidden(folder) for folder in _folders(repository, contract)]
        self.steps = {step: self._hidden(repository.root / contract.model_of(step)) for step in contract.family.steps}

    @property
    def ensemble(self) -> Path:
        """The ensemble's folder, the last of all `folders`."""
        return self.folders[-1]

    def publish(self, manifest: Told) -> Told:
        """Write the manifest into every folder and rename them, the ensemble last; gives the final manifest."""
        self._require_files(manifest)
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

    def _require_files(self, manifest: Manifest) -> None:
        for step, names in self._contract.family.files.items():
            for path in (self.steps[step] / name for name in names(manifest)):
                if not path.is_file():
                    raise RepositoryError(path, "was not written by the export", "report it: the release is not whole")

    def _hidden(self, folder: Path) -> Path:
        return folder / f"{_PARTIAL}{self.release}"

    def _hashes(self) -> dict[str, str]:
        files = [path for folder in self.folders for path in sorted(folder.rglob("*")) if path.is_file()]
        return {f"{path.parent.parent.name}/{path.name}": sha256_of(path) for path in files}

    def _write_configs(self) -> None:
        """Only a new pipeline gets configs: from then on they are its contract. Outputs may be added, and pins move."""
        for path, config in _configs(self._repository, self._contract, self.release).items():
            if not path.exists():
                path.write_text(render(config), encoding="utf-8")
                continue
            found = self._repository.config(path.parent.name)
            if (extended := with_added_outputs(found, config)) != found:
                self.replaced[path] = path.read_text(encoding="utf-8")
                replace_text(path, render(extended))


@contextmanager
def draft(repository: Repository, contract: PipelineContract) -> Iterator[Draft]:
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


def _undo(repository: Repository, contract: PipelineContract, current: Draft, made: list[Path]) -> None:
    for folder in _folders(repository, contract):
        for name in (f"{_PARTIAL}{current.release}", str(current.release)):
            shutil.rmtree(folder / name, ignore_errors=True)
    for path, text in current.replaced.items():
        replace_text(path, text)
    for path in reversed(made):
        shutil.rmtree(path, ignore_errors=True)


def _folders(repository: Repository, contract: PipelineContract) -> list[Path]:
    """All folders of a pipeline, the ensemble's last, whether they exist or not."""
    names = (step.model_name(contract.pipeline) for step in contract.steps)
    return [*(repository.root / name for name in names), repository.pipeline_folder(contract.pipeline)]


def _configs(repository: Repository, contract: PipelineContract, release: int) -> dict[Path, ModelConfig]:
    steps = (step_config(contract, step, [release]) for step in contract.steps)
    configs = (*steps, ensemble_config(contract, release))
    return {
        folder / CONFIG_NAME: config for folder, config in zip(_folders(repository, contract), configs, strict=True)
    }


def _require_same_contract(repository: Repository, contract: PipelineContract) -> None:
    """A pipeline stays what it is: its steps, its family and task, and all that its configs promise."""
    has_pipeline = repository.pipeline_folder(contract.pipeline).exists()
    is_usual = contract.layout == contract.family.layouts[0]
    if has_pipeline and repository.steps(contract.pipeline) != contract.steps:
        raise ContractError(contract.pipeline, f"its steps are {'joined' if is_usual else 'separate'}")
    for path, wanted in _configs(repository, contract, 1).items():
        if path.exists():
            is_gpu = isinstance(contract, Contract) and contract.gpu is not None
            require_kept(contract.pipeline, repository.config(path.parent.name), wanted, is_gpu)
    if (repository.pipeline_folder(contract.pipeline) / CONFIG_NAME).exists():
        found = repository.identity(contract.pipeline)
        if replace(found, task=found.task or contract.task_name) != contract.identity:
            raise ContractError(contract.pipeline, f"{contract.identity} instead of {found}")
