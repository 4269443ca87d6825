"""A model as Triton sees it: its folder, its config, and the versions that would be loaded from it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from google.protobuf.text_format import ParseError
from tritonclient.grpc.model_config_pb2 import ModelConfig

from trireme.contract.configs import parse
from trireme.contract.families import GENERATION
from trireme.contract.repository import CONFIG_NAME, JOINED_BACKEND
from trireme.serving.check.completion import completes, named_backend, why_none_completes
from trireme.serving.finding import FAIL, WARN, Finding

TOKENIZER, ENCODER, POSTPROCESS = "text_tokenizer", "text_encoder", "text_postprocess"
GENERATOR = GENERATION.layouts[0].models[0].backend
OUR_STEPS = (TOKENIZER, ENCODER, POSTPROCESS, JOINED_BACKEND, GENERATOR)

_PLATFORMS = {
    "tensorrt_plan": "tensorrt",
    "libtorch": "pytorch",
    "torch_aoti": "pytorch",
    "onnxruntime_onnx": "onnxruntime",
    "pytorch_libtorch": "pytorch",
    "tensorflow_savedmodel": "tensorflow",
    "tensorflow_graphdef": "tensorflow",
}
_FILES = {
    "python": "model.py",
    "onnxruntime": "model.onnx",
    "tensorrt": "model.plan",
    "openvino": "model.xml",
    "pytorch": "model.pt",
    **dict.fromkeys(OUR_STEPS, "manifest.json"),
}
_PLATFORM_FILES = {"torch_aoti": "model.pt2"}
_OTHER_FILES = {"pytorch": ("model.pt2", "model.py")}
_GUESSED = {name: file for name, file in _FILES.items() if name not in OUR_STEPS}
_LATEST = 1  # Triton's own version policy where a config has none


@dataclass(frozen=True)
class Model:
    """One folder of a repository. Where its config cannot be read, `fault` says why and `config` is empty.

    Of one that `is_completed` the server asks the backend for what the config leaves out.
    """

    folder: Path
    config: ModelConfig
    fault: str = ""
    is_completed: bool = False

    @property
    def name(self) -> str:
        """The name that Triton gives it: its folder's."""
        return self.folder.name

    @property
    def is_ensemble(self) -> bool:
        """Whether it is a chain of other models."""
        return bool(self.config.platform == "ensemble" or self.config.HasField("ensemble_scheduling"))

    @property
    def backend(self) -> str:
        """The backend that runs it. Where the config names neither backend nor platform, Triton goes by the files."""
        named = self.config.backend or _PLATFORMS.get(self.config.platform, self.config.platform)
        return str(named) or next(
            (name for name, file in _GUESSED.items() if any(self.folder.glob(f"*/{file}"))),
            named_backend(self.name) if not self.config.default_model_filename else "",
        )

    @property
    def has_all_tensors(self) -> bool:
        """Whether the config names every input and output, so that no other may be added when it is loaded."""
        return not self.is_completed or bool(self.config.input and self.config.output and self.backend != "python")

    @property
    def has_batch_size(self) -> bool:
        """Whether the config says if there is a batch dimension."""
        return not self.is_completed or self.config.max_batch_size > 0

    @property
    def file_name(self) -> str:
        """What the backend looks for in a version's folder; empty where that is nothing, or not known."""
        if self.is_ensemble or self.is_relocated:
            return ""
        usual = _PLATFORM_FILES.get(self.config.platform) or _FILES.get(self.backend, "")
        return str(self.config.default_model_filename or usual)

    @property
    def is_relocated(self) -> bool:
        """Whether agents of the server prepare the model, and may put it elsewhere: what they leave is not known."""
        return bool(self.config.model_repository_agents.agents)

    @property
    def file_names(self) -> tuple[str, ...]:
        """All names of which one is enough: plans may be one for each kind of GPU, PyTorch takes Python instead."""
        others = _OTHER_FILES.get(self.backend, ()) if not self.config.default_model_filename else ()
        return (self.file_name, *others, *self.config.cc_model_filenames.values()) if self.file_name else ()

    @cached_property
    def versions(self) -> dict[int, Path]:
        """The folders of its versions, by number, in ascending order."""
        folders = {int(path.name): path for path in self.folder.iterdir() if path.is_dir() and is_version(path.name)}
        return dict(sorted(folders.items()))

    def loaded(self) -> dict[int, Path]:
        """The versions that its policy loads."""
        policy = self.config.version_policy
        numbers = list(self.versions)
        if policy.HasField("specific"):
            numbers = [number for number in numbers if number in policy.specific.versions]
        elif not policy.HasField("all"):
            numbers = numbers[-(policy.latest.num_versions or _LATEST) :]
        return {number: self.versions[number] for number in numbers}

    def artifacts(self) -> Iterator[Path]:
        """The file of each version on disk that has one."""
        if self.file_name:
            yield from (path for folder in self.versions.values() if (path := folder / self.file_name).exists())

    def error(self, found: str, remedy: str, file: str | Path = CONFIG_NAME) -> Finding:
        """A finding without which the model does not load, or answers wrongly. `file` is one of the model's own."""
        return self._finding(FAIL, found, remedy, file)

    def warning(self, found: str, remedy: str, file: str | Path = CONFIG_NAME) -> Finding:
        """A finding with which the model loads, and is slow or will break later."""
        return self._finding(WARN, found, remedy, file)

    def _finding(self, status: str, found: str, remedy: str, file: str | Path) -> Finding:
        path = file if isinstance(file, Path) else self.folder / file
        return Finding(str(path.relative_to(self.folder.parent)), status, found, remedy)


Models = Mapping[str, Model]
"""All models of a repository by name."""

Check = Callable[[Model, Models], Iterator[Finding]]
"""Looks at one model, with the others beside it. Models whose config cannot be read are never given as the first."""


def read_models(root: Path, auto_complete: bool) -> dict[str, Model]:
    """Every model of a repository, as a server sees it that completes configs, or does not.

    Hidden folders are no models: an export builds in them.
    """
    folders = sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    return {folder.name: _read(folder, auto_complete) for folder in folders}


def is_version(name: str) -> bool:
    """Whether Triton takes a folder of this name for a version: a number without leading zeros."""
    return name.isascii() and name.isdecimal() and name == str(int(name))


def _read(folder: Path, auto_complete: bool) -> Model:
    path = folder / CONFIG_NAME
    if path.exists() and not path.is_file():
        return Model(folder, ModelConfig(), "it is no file")
    try:
        model = Model(folder, parse(path.read_text(encoding="utf-8")))
        return replace(model, is_completed=auto_complete and _is_completed(model))
    except FileNotFoundError:
        return _without_config(folder, auto_complete)
    except (ParseError, UnicodeDecodeError, OSError) as error:
        return Model(folder, ModelConfig(), f"Triton cannot read it: {error}")


def _without_config(folder: Path, auto_complete: bool) -> Model:
    model = Model(folder, ModelConfig())
    if not auto_complete:
        return replace(model, fault="there is none")
    if _is_completed(model):
        return replace(model, is_completed=True)
    return replace(model, fault=why_none_completes(model.backend))


def _is_completed(model: Model) -> bool:
    return not model.is_ensemble and completes(model.backend, model.folder)
