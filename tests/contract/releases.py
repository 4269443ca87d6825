"""Changes a pipeline as it was exported by another version of Trireme, and publishes one of its releases again."""

import shutil
from collections.abc import Callable
from dataclasses import replace

from tritonclient.grpc.model_config_pb2 import ModelConfig

from converters.publish import draft
from text_runtime.golden import FILE_NAME as GOLDEN_NAME
from text_runtime.manifest import FILE_NAME as MANIFEST_NAME
from trireme.contract.configs import render
from trireme.contract.pipelines import Contract
from trireme.contract.repository import CONFIG_NAME, Repository

NAME = "chain"
CONTRACT = Contract(NAME, "text-classification", 2)


def change(repository: Repository, model: str, by: Callable[[ModelConfig], None]) -> None:
    """Let a config say something else."""
    config = repository.config(model)
    by(config)
    (repository.root / model / CONFIG_NAME).write_text(render(config))


def without_an_output(config: ModelConfig) -> None:
    """As a Trireme wrote it that did not count unread characters yet."""
    del config.output[[output.name for output in config.output].index("truncated_chars")]
    for step in config.ensemble_scheduling.step:
        step.output_map.pop("truncated_chars", None)


def publish(repository: Repository) -> None:
    """Publish release 1 again as the next one."""
    with draft(repository, CONTRACT) as current:
        for step, folder in current.steps.items():
            for path in (repository.step_folder(NAME, step) / "1").iterdir():
                if path.name != MANIFEST_NAME:
                    shutil.copy(path, folder)
        shutil.copy(repository.pipeline_folder(NAME) / "1" / GOLDEN_NAME, current.ensemble)
        current.publish(replace(repository.manifest(NAME, 1), release=current.release))
