"""Outputs may be added to a pipeline's contract; nothing is changed or removed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tritonclient.grpc.model_config_pb2 import ModelConfig

from tests.contract.releases import NAME, change, publish, without_an_output
from text_runtime.tasks import task_names
from trireme.contract.pipelines import Contract, task_of
from trireme.contract.repository import CONFIG_NAME, Repository
from trireme.errors import ContractError, PublishError

FORMAT_1 = Path(__file__).parents[1] / "testdata" / "format_1"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A copy to change."""
    return Repository(Path(shutil.copytree(FORMAT_1 / "models", tmp_path / "models")))


def with_another_output(config: ModelConfig) -> None:
    config.output.add(name="language", data_type="TYPE_STRING", dims=[1])


def with_another_type(config: ModelConfig) -> None:
    config.output[0].dims[0] = 7


def with_another_task(config: ModelConfig) -> None:
    config.parameters["task"].string_value = "sentiment-of-old"


@pytest.mark.parametrize(
    ("model", "by", "told"),
    [
        (NAME, with_another_output, "output of chain differs: 'language' is gone"),
        (NAME, with_another_type, "output of chain differs: 'label' is another"),
        ("chain_postprocess", with_another_output, "output of chain_postprocess differs: 'language' is gone"),
        (NAME, with_another_task, "text-classification of the encoder family instead of sentiment-of-old"),
    ],
)
def test_a_release_that_would_change_or_remove_an_output_is_refused(
    model: str, by: Callable[[ModelConfig], None], told: str, repository: Repository
) -> None:
    change(repository, model, by)
    before = {path: path.read_bytes() for path in repository.root.rglob("*") if path.is_file()}
    with pytest.raises(ContractError, match=told):
        publish(repository)
    assert {path: path.read_bytes() for path in repository.root.rglob("*") if path.is_file()} == before


def test_an_added_output_extends_the_configs_and_leaves_what_was_tuned(repository: Repository) -> None:
    whole = repository.config(NAME)
    change(repository, NAME, without_an_output)
    change(repository, "chain_tokenizer", without_an_output)
    change(repository, "chain_tokenizer", lambda config: setattr(config.instance_group[0], "count", 3))
    publish(repository)
    found = repository.config(NAME)
    assert {output.name: output for output in found.output} == {output.name: output for output in whole.output}
    assert found.ensemble_scheduling == whole.ensemble_scheduling
    assert repository.pinned_release(NAME) == 2
    tokenizer = repository.config("chain_tokenizer")
    assert "truncated_chars" in {output.name for output in tokenizer.output}
    assert tokenizer.instance_group[0].count == 3


def test_configs_are_as_before_where_the_release_with_the_output_fails(repository: Repository) -> None:
    change(repository, NAME, without_an_output)
    path = repository.pipeline_folder(NAME) / CONFIG_NAME
    before = path.read_bytes()
    (repository.root / "chain_encoder" / "4").write_text("a file stands where the release shall go")
    with pytest.raises(PublishError):
        publish(repository)
    assert path.read_bytes() == before
    assert repository.releases(NAME) == [1, 2, 3]


@pytest.mark.parametrize("task", task_names())
def test_a_client_knows_a_task_to_which_a_newer_server_has_added_an_output(task: str) -> None:
    contract = Contract("any", task, 1)
    outputs = [*(tensor.name for tensor in contract.outputs), "language"]
    assert task_of([tensor.name for tensor in contract.inputs], outputs) == task
