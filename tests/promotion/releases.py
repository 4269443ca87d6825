"""Model repositories with small releases whose answers differ, and releases that are broken on purpose."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from converters.paddle_runtime import import_paddlenlp
from text_runtime.golden import FILE_NAME as GOLDEN_NAME
from text_runtime.golden import read_golden
from text_runtime.local import LocalPipeline, text_tensor
from text_runtime.manifest import FILE_NAME as MANIFEST_NAME
from text_runtime.manifest import read_manifest, sha256_of
from trireme.contract.repository import Repository

Array = npt.NDArray[Any]

NAME = "demo"
WORDS = {1: ("negative", "positive"), 2: ("bad", "good")}
"""Labels of each release: an answer's label alone says which postprocess step gave it."""


@dataclass(frozen=True)
class Size:
    """How large a checkpoint's model is, and how far its random weights spread."""

    width: int = 64
    layers: int = 1
    spread: float = 0.5


def make_checkpoint(folder: Path, seed: int, words: tuple[str, ...], size: Size = Size()) -> Path:  # noqa: B008
    """An ERNIE with random weights."""
    import paddle

    paddlenlp = import_paddlenlp()

    folder.mkdir(parents=True)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    vocabulary = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", *map(chr, range(0x4E00, 0x4E00 + 3000))]
    vocabulary += [*letters, *"，。！？", *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    paddle.seed(seed)
    config = paddlenlp.ErnieConfig(
        vocab_size=len(vocabulary),
        hidden_size=size.width,
        num_hidden_layers=size.layers,
        num_attention_heads=2,
        intermediate_size=2 * size.width,
        max_position_embeddings=128,
        initializer_range=size.spread,
        id2label=dict(enumerate(words)),
        label2id={word: index for index, word in enumerate(words)},
    )
    paddlenlp.ErnieForSequenceClassification(config).save_pretrained(str(folder))
    paddlenlp.ErnieTokenizer(str(folder / "vocab.txt"), model_max_length=128).save_pretrained(str(folder))
    return folder


def make_repository(folder: Path, instances: int = 0) -> None:
    """Two releases of `demo`, from two checkpoints; `instances` above 0 join their steps."""
    from converters.export import ExportSpec, export

    for release, words in WORDS.items():
        checkpoint = make_checkpoint(folder.parent / f"{folder.name}-checkpoint-{release}", release, words)
        export(ExportSpec(checkpoint, "text-classification", NAME, folder, instances=instances))


def copy_release(root: Path, source: int, target: int, name: str = NAME) -> None:
    """Publish a release once more under another number."""
    repository = Repository(root)
    for folder in repository.folders(name):
        shutil.copytree(folder / str(source), folder / str(target))
    sign(root, target, name)


def sign(root: Path, release: int, name: str = NAME) -> None:
    """Let a release's manifests agree with whatever its files hold now, as a faulty exporter would."""
    repository = Repository(root)
    folders = [folder / str(release) for folder in repository.folders(name)]
    paths = [path for folder in folders for path in folder.iterdir() if path.name != MANIFEST_NAME]
    files = {f"{path.parent.parent.name}/{path.name}": sha256_of(path) for path in paths}
    manifest = replace(repository.manifest(name, release), release=release, files=files)
    for folder in folders:
        (folder / MANIFEST_NAME).write_bytes(manifest.to_json())


def change_weights(root: Path, release: int, name: str, change: Callable[[Array], Array]) -> None:
    """Change every matrix of a joined release's network, and record its golden requests anew, as an exporter would."""
    import onnx
    from onnx import numpy_helper

    folder = root / f"{name}_joined" / str(release)
    graph = onnx.load(folder / "model.onnx")
    for weight in graph.graph.initializer:
        values = numpy_helper.to_array(weight)
        if values.ndim == 2 and values.dtype == np.float32:
            weight.CopyFrom(numpy_helper.from_array(change(values).astype(np.float32), weight.name))
    onnx.save(graph, folder / "model.onnx")
    _record_golden(root / name / str(release), folder)
    sign(root, release, name)


def _record_golden(folder: Path, step: Path) -> None:
    golden = read_golden(folder)
    pipeline = LocalPipeline(dict.fromkeys(("tokenizer", "encoder", "postprocess"), step), read_manifest(step))
    (answer,) = pipeline([{column: text_tensor(texts) for column, texts in golden.columns.items()}])
    outputs = {
        column: orjson.loads(orjson.dumps(values.tolist(), default=bytes.decode)) for column, values in answer.items()
    }
    (folder / GOLDEN_NAME).write_bytes(replace(golden, outputs=outputs).to_json())


def _plain(values: Array) -> Any:
    return orjson.loads(orjson.dumps(values.tolist(), default=bytes.decode))
