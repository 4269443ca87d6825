"""What a model that writes loads from its release."""

from collections.abc import Iterator

from text_runtime.generation.engines import engine_names
from text_runtime.generation.files import TOKENIZER_NAME
from text_runtime.manifest import FILE_NAME, GenerationManifest
from trireme.contract.families import GENERATION, Step
from trireme.serving.check.model import GENERATOR, Model, Models
from trireme.serving.check.release_folders import releases_of
from trireme.serving.finding import Finding

_AGAIN = "export the release again"


def load(model: Model, models: Models) -> Iterator[Finding]:
    """The engine is a known one, every file of the release is there, and the tokenizer loads."""
    from tokenizers import Tokenizer

    if model.backend != GENERATOR:
        return
    for folder, manifest in releases_of(model):
        if not isinstance(manifest, GenerationManifest):
            yield model.error(f"is a release of the {manifest.family} family", _AGAIN, folder / FILE_NAME)
            continue
        engine = manifest.generator.engine
        if engine not in engine_names():
            remedy = f"one of: {', '.join(engine_names())}"
            yield model.error(f"asks for the engine '{engine}', which there is not", remedy, folder / FILE_NAME)
        missing = [name for name in GENERATION.files[Step.GENERATOR](manifest) if not (folder / name).exists()]
        for name in missing:
            yield model.error("is missing", _AGAIN, folder / name)
        if TOKENIZER_NAME not in missing:
            try:
                Tokenizer.from_file(str(folder / TOKENIZER_NAME))
            except Exception as error:  # the library raises this class itself
                yield model.error(f"does not load: {error}", _AGAIN, folder / TOKENIZER_NAME)
