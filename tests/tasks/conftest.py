"""One Triton that serves a pipeline of every task, from checkpoints made once, beside the sources' own answers."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pytest
from msgspec.structs import replace

from converters.export import ExportSpec, export
from converters.paddle_runtime import import_paddlenlp
from converters.sources import Pooling, SourceOptions
from tests.conftest import once
from tests.tasks.checkpoints import MAX_POSITIONS, NAMES, TOPICS, make_checkpoint
from tests.tasks.texts import hard_texts
from trireme.serving import Server, ServerSpec, start

_MEAN = {"options": SourceOptions(pooling=Pooling.MEAN), "is_normalized": True}
PIPELINES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "sentiment": ("sentiment", "text-classification", {}),
    "long-sentiment": ("sentiment", "text-classification", {"long_text": "window"}),
    "topics": ("topics", "multi-label-classification", {}),
    "pairs": ("pairs", "text-pair-classification", {}),
    "rerank": ("rerank", "reranking", {}),
    "rerank-two": ("pairs", "reranking", {}),
    "ner": ("tags", "token-classification", {}),
    "long-ner": ("tags", "token-classification", {"long_text": "window"}),
    "embed": ("base", "embedding", _MEAN),
    "embed-cls": ("base", "embedding", {"options": SourceOptions(pooling=Pooling.CLS), "is_normalized": False}),
    "long-embed": (
        "base",
        "embedding",
        {"long_text": "window", "options": SourceOptions(pooling=Pooling.MEAN), "is_normalized": True},
    ),
    "uie": ("uie", "information-extraction", {}),
}
TWINS = ("sentiment", "topics", "pairs", "rerank", "ner", "long-ner", "embed", "uie")
"""Pipelines that are there twice, the second time with their steps joined in one model: `sentiment-joined`."""
THRESHOLDS = dict(zip(TOPICS, (0.2, 0.5, 0.7, 0.4), strict=True))


@pytest.fixture(scope="session")
def checkpoints(shared_folder: Path) -> dict[str, Path]:
    """A checkpoint of every head."""

    def make(folder: Path) -> None:
        for name in NAMES:
            make_checkpoint(folder / name, name)

    folder = once(shared_folder / "task-checkpoints", make)
    return {name: folder / name for name in NAMES}


@pytest.fixture(scope="session")
def tasks_repository(shared_folder: Path, checkpoints: dict[str, Path]) -> Path:
    """A model repository with every pipeline of `PIPELINES`. Never change it."""

    def make(folder: Path) -> None:
        labels = shared_folder / "thresholds.json"
        labels.write_bytes(orjson.dumps({"thresholds": THRESHOLDS}))
        for name, (checkpoint, task, options) in PIPELINES.items():
            extra = options | ({"labels": labels} if name == "topics" else {})
            spec = ExportSpec(checkpoints[checkpoint], task, name, folder, **extra)
            export(spec)
            if name in TWINS:
                export(replace(spec, name=f"{name}-joined", instances=2 if name == "sentiment" else 1))

    return once(shared_folder / "task-repository", make)


@pytest.fixture(scope="session")
def tasks_server(tasks_repository: Path) -> Iterator[Server]:
    """A Triton that serves them all."""
    with start(ServerSpec(tasks_repository, 0, 0, 0)) as server:
        yield server


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """200 texts of all kinds."""
    return hard_texts(200)


Source = Callable[..., list[npt.NDArray[Any]]]


@pytest.fixture(scope="session")
def source(checkpoints: dict[str, Path]) -> Source:
    """PaddleNLP's own output, one row at a time, from its own tokenizer and dynamic graph."""
    import paddle

    paddlenlp = import_paddlenlp()

    loaded: dict[tuple[str, str], Any] = {}

    def load(name: str, architecture: str) -> Any:
        if (name, architecture) not in loaded:
            model = getattr(paddlenlp, architecture).from_pretrained(str(checkpoints[name]))
            model.eval()
            tokenizer = paddlenlp.ErnieTokenizer.from_pretrained(str(checkpoints[name]))
            loaded[name, architecture] = (model, tokenizer)
        return loaded[name, architecture]

    def run(
        name: str, architecture: str, texts: Sequence[str], pairs: Sequence[str] | None = None
    ) -> list[npt.NDArray[Any]]:
        model, tokenizer = load(name, architecture)
        results = []
        for index, text in enumerate(texts):
            pair = None if pairs is None else pairs[index]
            row = tokenizer(text, pair, max_length=MAX_POSITIONS, truncation=True)
            with paddle.no_grad():
                output = model(paddle.to_tensor([row["input_ids"]]), paddle.to_tensor([row["token_type_ids"]]))
            results.append((output[0] if isinstance(output, tuple) else output).numpy()[0].astype(np.float32))
        return results

    return run
