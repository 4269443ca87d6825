"""Families are declared as data: the generation family stands beside the encoder's by its declaration."""

from dataclasses import replace
from pathlib import Path

import pytest

from converters.publish import draft
from tests.generation.written_release import manifest_of, write_release
from text_runtime.facts import EncoderFacts, SourceFacts, TokenizerFacts
from text_runtime.manifest import EncoderManifest
from text_runtime.tasks import task_names
from text_runtime.tasks.label_files import FILE_NAME as LABELS_NAME
from text_runtime.tokenizers.tokenizer import FILE_NAME as TOKENIZER_NAME
from trireme.contract.configs import ensemble_config, identity_of, step_config
from trireme.contract.families import ENCODER, GENERATION, Identity, Step, family_named
from trireme.contract.naming import require_free_name
from trireme.contract.pipelines import Contract, GenerationContract
from trireme.contract.repository import Repository
from trireme.errors import NameRefusedError, RepositoryError, UnsupportedError
from trireme.promotion.configs import router
from trireme.promotion.disk import PipelineDisk
from trireme.promotion.layout import Layout, Traffic

WRITER = GenerationContract("writer")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Two releases of a pipeline `writer` of the generation family."""
    write_release(tmp_path)
    return write_release(tmp_path)


def test_its_configs_follow_from_the_declaration() -> None:
    config = step_config(WRITER, Step.GENERATOR, [1])
    assert (config.name, config.backend, config.max_batch_size) == ("writer_generator", "text_generator", 0)
    assert config.model_transaction_policy.decoupled
    assert not config.HasField("dynamic_batching")
    assert all(tensor.optional for tensor in config.input)
    ensemble = ensemble_config(WRITER, 1)
    admit, write = ensemble.ensemble_scheduling.step
    assert {admit.model_name, write.model_name} == {"writer_generator"}
    assert admit.input_map["text_input"] == "text_input"
    assert (dict(admit.output_map), dict(write.input_map)) == ({"issued_ticket": "ticket"}, {"ticket": "ticket"})
    assert write.output_map["text_output"] == "text_output"
    assert "ticket" not in {tensor.name for tensor in (*ensemble.input, *ensemble.output)}
    assert identity_of(ensemble) == Identity("generation", "text-generation")


def test_it_is_published_found_and_moved_on_disk_like_any_other(repository: Repository) -> None:
    assert repository.pipelines() == ["writer"]
    assert (repository.family("writer"), repository.layout("writer")) == (GENERATION, GENERATION.layouts[0])
    assert repository.manifest("writer", 2).family == "generation"
    assert repository.release_folders("writer", 2) == {"generator": repository.root / "writer_generator" / "2"}
    disk = PipelineDisk(repository, "writer")
    disk.write_steps(frozenset({1, 2}))
    disk.write_side(2)
    disk.write_traffic(Traffic(2))
    assert disk.layout() == Layout(frozenset({1, 2}), Traffic(2))
    assert repository.pipelines() == ["writer"]
    pins = {step.model_version for step in repository.config("writer").ensemble_scheduling.step}
    assert pins == {2}


def test_a_canary_of_streams_has_a_router_of_its_own(repository: Repository) -> None:
    disk = PipelineDisk(repository, "writer")
    disk.write_steps(frozenset({1, 2}))
    disk.write_traffic(Traffic(1, 2, 10.0))
    config = repository.config("writer")
    assert config.backend == "text_stream_router"
    assert config.model_transaction_policy.decoupled
    assert not config.HasField("dynamic_batching")
    assert disk.layout().traffic == Traffic(1, 2, 10.0)


def test_a_release_that_lacks_a_file_of_its_family_is_not_published(repository: Repository) -> None:
    with (
        pytest.raises(RepositoryError, match="openvino_model.xml: was not written"),
        draft(repository, WRITER) as current,
    ):
        current.publish(manifest_of("writer", current.release))
    assert repository.releases("writer") == [1, 2]


def test_its_steps_names_are_taken(tmp_path: Path) -> None:
    with pytest.raises(NameRefusedError, match="own steps end in '_generator'"):
        require_free_name(tmp_path, "my_generator")


def test_a_release_of_another_family_is_no_encoders(repository: Repository) -> None:
    with pytest.raises(RepositoryError, match="is a release of the generation family"):
        repository.encoder_manifest("writer", 1)


def test_a_family_that_nobody_declared_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="family 'vision' is not supported; choose one of: encoder, generation"):
        family_named("vision")


@pytest.mark.parametrize("task", task_names())
def test_a_pipeline_and_its_router_say_family_and_task_and_without_them_its_tensors_tell(task: str) -> None:
    ensemble = ensemble_config(Contract("any", task, 3), 1)
    split = Traffic(1, 2, 10.0).split("any")
    assert split is not None
    for config in (ensemble, router(ensemble, split)):
        assert config.parameters["task"].string_value == task
        assert config.parameters["family"].string_value == "encoder"
        assert identity_of(config) == Identity("encoder", task)
        del config.parameters["task"], config.parameters["family"]
        assert identity_of(config) == Identity("encoder", task)


def test_what_a_config_says_goes_before_what_its_tensors_look_like() -> None:
    config = ensemble_config(replace(Contract("any", "text-classification", 3), task_name="reranking"), 1)
    del config.output[:]
    assert identity_of(config) == Identity("encoder", "reranking")


def test_the_encoder_familys_files_are_those_that_its_steps_read() -> None:
    manifest = EncoderManifest(
        pipeline="p",
        release=1,
        task="text-classification",
        created_at="",
        trireme_version="",
        source=SourceFacts("", "", "", {}),
        width=2,
        tokenizer=TokenizerFacts(16, 0),
        encoder=EncoderFacts("onnxruntime", "fp32", "model.onnx", (), ""),
    )
    names = {step.value: names(manifest) for step, names in ENCODER.files.items()}
    assert names == {"tokenizer": (TOKENIZER_NAME,), "encoder": ("model.onnx",), "postprocess": (LABELS_NAME,)}
