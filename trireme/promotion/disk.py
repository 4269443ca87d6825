"""The pipeline's configs in the model repository: read as a layout, written piece by piece, each piece atomically."""

import shutil
from dataclasses import dataclass
from typing import Any

from tritonclient.grpc.model_config_pb2 import ModelConfig

from text_runtime.routing.split import side_name
from text_runtime.tasks import Task, columns_of, task
from trireme.contract.atomic_files import replace_text
from trireme.contract.configs import render
from trireme.contract.repository import CONFIG_NAME, ROUTER_VERSION, Repository
from trireme.errors import PromotionError, RepositoryError
from trireme.promotion.configs import pinned_ensemble, router, traffic_of, with_versions
from trireme.promotion.layout import Layout, Traffic


@dataclass(frozen=True)
class PipelineDisk:
    """One pipeline's folders in a model repository that all its servers share."""

    repository: Repository
    pipeline: str

    @property
    def steps(self) -> list[str]:
        """The models that the pipeline's ensembles call."""
        return self.repository.step_models(self.pipeline)

    @property
    def is_streamed(self) -> bool:
        """Whether the pipeline's answers are streams."""
        return self.repository.family(self.pipeline).is_decoupled

    @property
    def task(self) -> Task[Any]:
        """The pipeline's task.

        Raises:
            RepositoryError: its config tells none.
        """
        name = self.repository.identity(self.pipeline).task
        if name is None:
            path = self.repository.pipeline_folder(self.pipeline) / CONFIG_NAME
            raise RepositoryError(path, "it is of no task", "export the pipeline again")
        return task(name)

    def probe(self) -> dict[str, list[str]]:
        """One small row of the pipeline's inputs."""
        return columns_of([self.task.probe])

    def layout(self) -> Layout:
        """What the configs on disk say.

        Raises:
            RepositoryError: a config is missing or says nothing clear.
        """
        traffic = traffic_of(self.repository.config(self.pipeline))
        if traffic is None:
            path = self.repository.pipeline_folder(self.pipeline) / CONFIG_NAME
            raise RepositoryError(path, "its steps are not pinned to one release", "export the pipeline again")
        policies = [set(self.repository.config(step).version_policy.specific.versions) for step in self.steps]
        return Layout(frozenset(set.intersection(*policies)) | traffic.needed, traffic)

    def write_steps(self, releases: frozenset[int]) -> None:
        """Let every step load exactly these releases."""
        for step in self.steps:
            self._write(step, with_versions(self.repository.config(step), releases))

    def write_side(self, release: int) -> None:
        """Write the ensemble that answers from one release."""
        name = side_name(self.pipeline, release)
        if self.repository.is_pipeline(name):
            raise PromotionError(self.pipeline, f"'{name}' is a pipeline of its own", "export it under another name")
        (self.repository.root / name / str(release)).mkdir(parents=True, exist_ok=True)
        self._write(name, pinned_ensemble(self._ensemble(), name, release))

    def remove_side(self, release: int) -> None:
        """Remove that ensemble; the release itself stays."""
        shutil.rmtree(self.repository.root / side_name(self.pipeline, release), ignore_errors=True)

    def write_traffic(self, traffic: Traffic) -> None:
        """Write what answers the pipeline's requests."""
        ensemble, split = self._ensemble(), traffic.split(self.pipeline)
        if split is None:
            self._write(self.pipeline, pinned_ensemble(ensemble, self.pipeline, traffic.current))
        else:
            (self.repository.pipeline_folder(self.pipeline) / str(ROUTER_VERSION)).mkdir(exist_ok=True)
            self._write(self.pipeline, router(ensemble, split))

    def remove_router(self) -> None:
        """Remove what a canary left; without effect while there is one."""
        if self.layout().traffic.candidate is None:
            shutil.rmtree(self.repository.pipeline_folder(self.pipeline) / str(ROUTER_VERSION), ignore_errors=True)

    def release_bytes(self, release: int) -> int:
        """Size of a release's files."""
        folders = [folder / str(release) for folder in self.repository.folders(self.pipeline)]
        return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())

    def _ensemble(self) -> ModelConfig:
        """The pipeline's ensemble; while a router stands in for it, the same one under its side's name."""
        found = self.repository.config(self.pipeline)
        if found.platform == "ensemble":
            return found
        return self.repository.config(side_name(self.pipeline, self.repository.pinned_release(self.pipeline)))

    def _write(self, model: str, config: ModelConfig) -> None:
        """Nothing is written where nothing changes: a new time of change alone would reload the model."""
        path = self.repository.root / model / CONFIG_NAME
        text = render(config)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            replace_text(path, text)
