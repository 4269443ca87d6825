"""What Trireme's own steps load from a release, and whether a release is still what was published.

Each check takes for granted what another one looks at, so that one fault is one finding.
"""

from collections.abc import Iterator
from pathlib import Path

from text_runtime.encoder.engines import engine_names
from text_runtime.manifest import FILE_NAME, EncoderManifest, read_manifest
from text_runtime.records import FormatError
from text_runtime.tasks import task
from text_runtime.tasks.label_files import read_labels
from trireme.contract.integrity import verify_release
from trireme.contract.pipelines import Contract
from trireme.contract.repository import JOINED_BACKEND, Repository
from trireme.errors import IntegrityError, MissingLibraryError
from trireme.serving.check.graph_file import Graph, read_graph
from trireme.serving.check.model import ENCODER, POSTPROCESS, TOKENIZER, Model, Models
from trireme.serving.check.release_folders import encoder_releases_of, has_manifest
from trireme.serving.finding import Finding

_AGAIN = "export the release again"


def manifests(model: Model, models: Models) -> Iterator[Finding]:
    """The manifest in each release's folder of a step can be read."""
    if model.file_name != FILE_NAME:
        return
    for path in model.artifacts():
        try:
            read_manifest(path.parent)
        except FormatError as error:
            yield model.error(error.problem, error.remedy, path)
        except ValueError as error:
            yield model.error(f"cannot be read: {error}", _AGAIN, path)


def encoder(model: Model, models: Models) -> Iterator[Finding]:
    """The engine is a known one, its file is there and loads, and the graph has the inputs and width promised."""
    for folder, manifest in _of_step(model, ENCODER):
        facts = manifest.encoder
        path = folder / facts.model
        if facts.engine not in engine_names():
            remedy = f"one of: {', '.join(engine_names())}"
            yield model.error(f"asks for the engine '{facts.engine}', which there is not", remedy, folder / FILE_NAME)
        elif not path.is_file():
            yield model.error("is missing", _AGAIN, path)
        else:
            yield from _graph_faults(model, manifest, path)


def contract(model: Model, models: Models) -> Iterator[Finding]:
    """An encoder's config has the inputs that this version of Trireme gives to encoders."""
    if model.backend != ENCODER:
        return
    found = {tensor.name for tensor in model.config.input}
    for _, manifest in encoder_releases_of(model):
        wanted = {tensor.name for tensor in Contract(manifest.pipeline, manifest.task, manifest.width).encoder_inputs}
        if found != wanted:
            problem = f"has the inputs {sorted(found)}, this version of Trireme gives {sorted(wanted)}"
            yield model.error(problem, "export the checkpoint again, under another name")
            return


def tokenizer(model: Model, models: Models) -> Iterator[Finding]:
    """`tokenizer.json` loads."""
    from tokenizers import Tokenizer

    for folder, _ in _of_step(model, TOKENIZER):
        path = folder / "tokenizer.json"
        if not path.is_file():
            yield model.error("is missing", _AGAIN, path)
            continue
        try:
            Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises this class itself
            yield model.error(f"does not load: {error}", _AGAIN, path)


def labels(model: Model, models: Models) -> Iterator[Finding]:
    """`labels.json` names every column that the encoder has."""
    for folder, manifest in _of_step(model, POSTPROCESS):
        try:
            read_labels(folder, manifest.width if task(manifest.task).has_labels else 0)
        except ValueError as error:
            yield model.error(f"does not fit: {error}", _AGAIN, folder / "labels.json")


def integrity(model: Model, models: Models) -> Iterator[Finding]:
    """Every file of every release on disk has the hash that its manifest gives, and no file was added."""
    repository = Repository(model.folder.parent)
    if not repository.is_pipeline(model.name):
        return
    for release in repository.releases(model.name):
        if all(has_manifest(folder / str(release)) for folder in repository.folders(model.name)):
            try:
                verify_release(repository, model.name, release)
            except IntegrityError as error:
                problem = f"release {release}: {error.name} {error.problem} since it was published"
                yield model.error(problem, f"restore it from where it was built, or {_AGAIN}", str(release))


def _graph_faults(model: Model, manifest: EncoderManifest, path: Path) -> Iterator[Finding]:
    try:
        graph = read_graph(path)
    except MissingLibraryError as error:
        yield model.warning("was not looked into", str(error), path)
    except ValueError as error:
        yield model.error(f"does not load: {error}", _AGAIN, path)
    else:
        yield from _graph_differences(model, manifest, graph, path) if graph else ()


def _graph_differences(model: Model, manifest: EncoderManifest, graph: Graph, path: Path) -> Iterator[Finding]:
    facts = manifest.encoder
    if set(facts.inputs) != set(graph.inputs):
        problem = f"has the inputs {sorted(graph.inputs)}, its manifest says {sorted(facts.inputs)}"
        yield model.error(problem, _AGAIN, path)
    is_graphs = model.backend == ENCODER
    outputs = {tensor.name: tensor.dims[-1] for tensor in model.config.output if tensor.dims and is_graphs}
    for name in sorted(outputs.keys() | {facts.output}):
        if name not in graph.outputs:
            yield model.error(f"has no output '{name}'", _AGAIN, path)
            continue
        width = graph.outputs[name].dims[-1]
        if name in outputs and -1 not in (width, outputs[name]) and width != outputs[name]:
            remedy = f"write dims: [-1, {width}], and in the steps behind too; or {_AGAIN}"
            yield model.error(
                f"output '{name}' is {outputs[name]} wide, in {path.parent.name}/{path.name} {width}", remedy
            )


def _of_step(model: Model, backend: str) -> Iterator[tuple[Path, EncoderManifest]]:
    """The releases of the model that does a step's work."""
    return encoder_releases_of(model) if model.backend in (backend, JOINED_BACKEND) else iter(())
