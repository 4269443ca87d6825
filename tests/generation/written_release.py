"""A release of a pipeline that writes as it lies on disk, without a model: for tests that never load one."""

import json
from pathlib import Path

from tokenizers import Tokenizer, models

from converters.publish import draft
from text_runtime.facts import GeneratorFacts, SourceFacts
from text_runtime.generation.files import SPECIAL_TOKENS_NAME, TEMPLATE_NAME, TOKENIZER_NAME
from text_runtime.manifest import GENERATION_FAMILY, GenerationManifest
from trireme.contract.pipelines import GENERATION_TASK, GenerationContract, Step
from trireme.contract.repository import Repository

FACTS = GeneratorFacts("openvino-genai", "int4", "openvino_model.xml", 64, 8, (1,))


def write_release(root: Path, pipeline: str = "writer") -> Repository:
    """Publish one more release."""
    repository = Repository(root)
    with draft(repository, GenerationContract(pipeline)) as current:
        folder = current.steps[Step.GENERATOR]
        (folder / FACTS.model).write_text("<net/>", encoding="utf-8")
        Tokenizer(models.BPE({"a": 0, "b": 1}, [])).save(str(folder / TOKENIZER_NAME))
        (folder / TEMPLATE_NAME).write_text("{{ messages[0].content }}", encoding="utf-8")
        (folder / SPECIAL_TOKENS_NAME).write_text(json.dumps({"eos_token": "b"}), encoding="utf-8")
        current.publish(manifest_of(pipeline, current.release))
    return repository


def manifest_of(pipeline: str, release: int) -> GenerationManifest:
    """The manifest of such a release."""
    return GenerationManifest(
        pipeline=pipeline,
        release=release,
        family=GENERATION_FAMILY,
        task=GENERATION_TASK,
        created_at="2026-01-01T00:00:00Z",
        trireme_version="0",
        source=SourceFacts("gguf", "tiny.gguf", "llama", {}),
        generator=FACTS,
    )
