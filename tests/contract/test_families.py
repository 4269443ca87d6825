"""A family stands beside the encoder's by a declaration alone: here one of a single streaming step."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from converters.publish import draft
from text_runtime.manifest import EncoderFacts, Manifest, SourceFacts, TokenizerFacts
from text_runtime.tasks import task_names
from text_runtime.tasks.label_files import FILE_NAME as LABELS_NAME
from text_runtime.tensors import DataType, TensorSpec
from text_runtime.tokenizers.tokenizer import FILE_NAME as TOKENIZER_NAME
from trireme.contract.configs import ensemble_config, identity_of, step_config
from trireme.contract.families import (
    ENCODER,
    FAMILIES,
    Family,
    Identity,
    Step,
    StepLayout,
    StepModel,
    family_named,
)
from trireme.contract.naming import require_free_name
from trireme.contract.pipelines import Contract, PipelineContract
from trireme.contract.repository import Repository
from trireme.errors import NameRefusedError, PromotionError, RepositoryError, UnsupportedError
from trireme.promotion.configs import router
from trireme.promotion.disk import PipelineDisk
from trireme.promotion.layout import Layout, Traffic

GENERATOR = Step("generator")
STREAM = StepLayout(
    "stream",
    (StepModel(GENERATOR, "text_generator", lambda of: of.inputs, lambda of: of.outputs, is_decoupled=True),),
)
GENERATION = Family("generation", (STREAM,), {GENERATOR: lambda manifest: ("weights.gguf",)}, max_batch_size=0)


@dataclass(frozen=True)
class Writing(PipelineContract):
    """What a pipeline of that family promises."""

    family = GENERATION
    layout = STREAM
    inputs = (TensorSpec("text_input", DataType.STRING, (1,)),)
    outputs = (TensorSpec("text_output", DataType.STRING, (1,)),)


@pytest.fixture(autouse=True)
def generation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Declare the family."""
    monkeypatch.setitem(FAMILIES, GENERATION.name, GENERATION)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Two releases of a pipeline `writer` of that family."""
    found = Repository(tmp_path)
    for _ in range(2):
        with draft(found, Writing("writer", "text-generation")) as current:
            (current.steps[GENERATOR] / "weights.gguf").write_bytes(b"weights")
            current.publish(manifest_of(current.release))
    return found


def manifest_of(release: int) -> Manifest:
    """A manifest of that family."""
    facts = SourceFacts("gguf", "tiny", "Llama", {}), TokenizerFacts(16, 0), EncoderFacts("none", "int4", "", (), "")
    return Manifest("writer", release, "text-generation", 1, "", "", *facts, family=GENERATION.name)


def test_its_configs_follow_from_the_declaration() -> None:
    contract = Writing("writer", "text-generation")
    config = step_config(contract, GENERATOR, [1])
    assert (config.name, config.backend, config.max_batch_size) == ("writer_generator", "text_generator", 0)
    assert config.model_transaction_policy.decoupled
    assert not config.HasField("dynamic_batching")
    ensemble = ensemble_config(contract, 1)
    (step,) = ensemble.ensemble_scheduling.step
    assert (step.model_name, dict(step.input_map)) == ("writer_generator", {"text_input": "text_input"})
    assert identity_of(ensemble) == Identity("generation", "text-generation")


def test_it_is_published_found_and_moved_on_disk_like_any_other(repository: Repository) -> None:
    assert repository.pipelines() == ["writer"]
    assert (repository.family("writer"), repository.layout("writer")) == (GENERATION, STREAM)
    assert repository.manifest("writer", 2).family == "generation"
    assert repository.release_folders("writer", 2) == {"generator": repository.root / "writer_generator" / "2"}
    disk = PipelineDisk(repository, "writer")
    disk.write_steps(frozenset({1, 2}))
    disk.write_side(2)
    disk.write_traffic(Traffic(2))
    assert disk.layout() == Layout(frozenset({1, 2}), Traffic(2))
    assert repository.pipelines() == ["writer"]


def test_a_canary_of_streams_is_refused(repository: Repository) -> None:
    disk = PipelineDisk(repository, "writer")
    disk.write_steps(frozenset({1, 2}))
    with pytest.raises(PromotionError, match="its answers are streams; stage the release, then promote it"):
        disk.write_traffic(Traffic(1, 2, 10.0))
    assert disk.layout().traffic == Traffic(1)


def test_a_release_that_lacks_a_file_of_its_family_is_not_published(repository: Repository) -> None:
    with (
        pytest.raises(RepositoryError, match="weights.gguf: was not written"),
        draft(repository, Writing("writer", "text-generation")) as current,
    ):
        current.publish(manifest_of(current.release))
    assert repository.releases("writer") == [1, 2]


def test_its_steps_names_are_taken(tmp_path: Path) -> None:
    with pytest.raises(NameRefusedError, match="own steps end in '_generator'"):
        require_free_name(tmp_path, "my_generator")


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
    manifest = replace(manifest_of(1), encoder=EncoderFacts("onnxruntime", "fp32", "model.onnx", (), ""))
    names = {step.value: names(manifest) for step, names in ENCODER.files.items()}
    assert names == {"tokenizer": (TOKENIZER_NAME,), "encoder": ("model.onnx",), "postprocess": (LABELS_NAME,)}
