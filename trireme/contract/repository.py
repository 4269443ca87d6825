"""Where a pipeline's folders lie in a model repository, and what is in them."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.text_format import ParseError
from tritonclient.grpc.model_config_pb2 import ModelConfig

from text_runtime.manifest import FILE_NAME, EncoderManifest, Manifest, read_manifest
from text_runtime.records import FormatError
from text_runtime.routing.split import side_name
from trireme.contract import configs
from trireme.contract.configs import identity_of
from trireme.contract.families import ENCODER, Family, Identity, Step, StepLayout, all_layouts, family_named
from trireme.errors import RepositoryError

CONFIG_NAME = "config.pbtxt"
ROUTER_BACKEND = "text_router"
STREAM_ROUTER_BACKEND = "text_stream_router"
ROUTER_BACKENDS = (ROUTER_BACKEND, STREAM_ROUTER_BACKEND)
"""Of single answers, and of streams."""
JOINED_BACKEND = ENCODER.layout("joined").models[0].backend
ROUTER_VERSION = 1_000_000
"""The router's own version: no release has this number, so nobody takes it for one. Its answers name the release in
the response parameter `release`, where Triton can carry one (2.51 cannot)."""


@dataclass(frozen=True)
class Repository:
    """A Triton model repository on disk."""

    root: Path

    def require_writable(self) -> None:
        """Refuse a place that no release can be written to, before an export has worked for it.

        Raises:
            RepositoryError: it is a file, or stands in one, or may not be written to.
        """
        whole = self.root.absolute()
        nearest = next(path for path in (whole, *whole.parents) if path.exists() or path.is_symlink())
        if not nearest.is_dir():
            raise RepositoryError(self.root, f"{nearest} is no folder", "choose another --repository")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise RepositoryError(self.root, f"{nearest} may not be written to", "choose another --repository")

    def pipelines(self) -> list[str]:
        """Names of the pipelines in it: every folder with a config, and steps of its name beside it."""
        names = (path.parent.name for path in self.root.glob(f"*/{CONFIG_NAME}"))
        return sorted(name for name in names if self.is_pipeline(name))

    def is_pipeline(self, name: str) -> bool:
        """Whether the models that a pipeline of that name would call stand beside it."""
        if not any((self.root / layout.steps[0].model_name(name)).is_dir() for layout in all_layouts()):
            return False  # told without reading a config: a check asks this of every model
        return (self.root / self.layout(name).steps[0].model_name(name)).is_dir()

    def pipeline_folder(self, pipeline: str) -> Path:
        """The ensemble's folder."""
        return self.root / pipeline

    def identity(self, pipeline: str) -> Identity:
        """The pipeline's family and task, as its config says them.

        Raises:
            RepositoryError: it has no config that can be read.
        """
        return identity_of(self.config(pipeline))

    def family(self, pipeline: str) -> Family:
        """The pipeline's family; *encoder* where its config cannot be read, which is for others to complain of.

        Raises:
            UnsupportedError: this version of Trireme does not know the family.
        """
        try:
            return family_named(self.identity(pipeline).family)
        except RepositoryError:
            return ENCODER

    def layout(self, pipeline: str) -> StepLayout:
        """How the pipeline's steps are cut into models."""
        usual, *others = self.family(pipeline).layouts
        return next((layout for layout in others if self._has(pipeline, layout)), usual)

    def _has(self, pipeline: str, layout: StepLayout) -> bool:
        """Whether its first model is there: as a step, since it may also be another pipeline's ensemble."""
        name = layout.steps[0].model_name(pipeline)
        is_there = (self.root / name / CONFIG_NAME).is_file()
        return is_there and self.config(name).backend == layout.models[0].backend

    def steps(self, pipeline: str) -> tuple[Step, ...]:
        """The models that the pipeline's ensemble calls."""
        return self.layout(pipeline).steps

    def step_models(self, pipeline: str) -> list[str]:
        """Their names."""
        return [step.model_name(pipeline) for step in self.steps(pipeline)]

    def step_folder(self, pipeline: str, step: Step) -> Path:
        """The folder of the model that does a step's work."""
        return self.root / self.layout(pipeline).executor(step).model_name(pipeline)

    def release_folders(self, pipeline: str, release: int) -> dict[str, Path]:
        """Where the files of each step of a release are; of an encoder's: `tokenizer`, `encoder`, `postprocess`."""
        layout, steps = self.layout(pipeline), self.family(pipeline).steps
        return {step.value: self.root / layout.executor(step).model_name(pipeline) / str(release) for step in steps}

    def folders(self, pipeline: str) -> list[Path]:
        """All folders of a pipeline: its steps', then the ensemble's."""
        return [*(self.root / model for model in self.step_models(pipeline)), self.pipeline_folder(pipeline)]

    def releases(self, pipeline: str) -> list[int]:
        """Published releases in ascending order.

        The ensemble's folder receives its manifest last of all, so a release that has one there is whole.
        """
        manifests = self.pipeline_folder(pipeline).glob(f"*/{FILE_NAME}")
        return sorted(int(path.parent.name) for path in manifests if path.parent.name.isdecimal())

    def manifest(self, pipeline: str, release: int) -> Manifest:
        """The manifest of a release.

        Raises:
            RepositoryError: there is no such release, or its manifest cannot be read.
        """
        folder = self.pipeline_folder(pipeline) / str(release)
        try:
            return read_manifest(folder)
        except FileNotFoundError as error:
            known = ", ".join(map(str, self.releases(pipeline))) or "none"
            raise RepositoryError(folder, "there is no such release", f"releases on disk: {known}") from error
        except FormatError as error:
            raise RepositoryError(folder / FILE_NAME, error.problem, error.remedy) from error
        except ValueError as error:
            raise RepositoryError(folder, str(error), "export the release again") from error

    def encoder_manifest(self, pipeline: str, release: int) -> EncoderManifest:
        """The manifest of a release of the encoder family.

        Raises:
            RepositoryError: there is no such release, its manifest cannot be read, or it is of another family.
        """
        found = self.manifest(pipeline, release)
        if not isinstance(found, EncoderManifest):
            folder = self.pipeline_folder(pipeline) / str(release)
            raise RepositoryError(folder, f"is a release of the {found.family} family", "name a pipeline that encodes")
        return found

    def config(self, model: str) -> ModelConfig:
        """The config of any model in the repository.

        Raises:
            RepositoryError: it has none, or it cannot be parsed.
        """
        path = self.root / model / CONFIG_NAME
        try:
            return configs.parse(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise RepositoryError(path, "not found", "export a pipeline of that name first") from error
        except (ParseError, UnicodeDecodeError) as error:
            raise RepositoryError(path, f"not a model config ({error})", "restore it or export again") from error

    def pinned_release(self, pipeline: str) -> int:
        """The release that the pipeline's ensemble pins; during a canary the one that it will fall back to.

        Raises:
            RepositoryError: the pipeline has no config, or its steps are not pinned to one release.
        """
        found = self.config(pipeline)
        if found.backend in ROUTER_BACKENDS:
            return int(found.parameters["current"].string_value)
        versions = {step.model_version for step in found.ensemble_scheduling.step}
        if len(versions) != 1 or min(versions) < 1:
            path = self.pipeline_folder(pipeline) / CONFIG_NAME
            raise RepositoryError(path, "its steps are not pinned to one release", "promote a release")
        return int(versions.pop())

    def sides(self, pipeline: str) -> list[int]:
        """Releases that can be asked by name, `sentiment_v2`, because they are staged."""
        pattern = re.compile(re.escape(pipeline) + r"_v(\d+)")
        names = (path.parent.name for path in self.root.glob(f"{pipeline}_v*/{CONFIG_NAME}"))
        return sorted(int(match[1]) for name in names if (match := pattern.fullmatch(name)))

    def served_models(self, pipeline: str) -> list[str]:
        """What a server loads to serve a pipeline as it stands; ensembles bring their steps along."""
        return [*(side_name(pipeline, release) for release in self.sides(pipeline)), pipeline]
