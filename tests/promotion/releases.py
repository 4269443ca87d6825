"""Model repositories with small releases whose answers differ, and releases that are broken on purpose."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from text_runtime.manifest import FILE_NAME as MANIFEST_NAME
from text_runtime.manifest import sha256_of
from trireme.contract.repository import Repository

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
    from paddlenlp.transformers import ErnieConfig, ErnieForSequenceClassification, ErnieTokenizer

    folder.mkdir(parents=True)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    vocabulary = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", *map(chr, range(0x4E00, 0x4E00 + 3000))]
    vocabulary += [*letters, *"，。！？", *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    paddle.seed(seed)
    config = ErnieConfig(
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
    ErnieForSequenceClassification(config).save_pretrained(str(folder))
    ErnieTokenizer(str(folder / "vocab.txt"), model_max_length=128).save_pretrained(str(folder))
    return folder


def make_repository(folder: Path, instances: int = 0) -> None:
    """Two releases of `demo`, from two checkpoints; `instances` above 0 join their steps."""
    from converters.export import ExportSpec, export

    for release, words in WORDS.items():
        checkpoint = make_checkpoint(folder.parent / f"{folder.name}-checkpoint-{release}", release, words)
        export(ExportSpec(checkpoint, "text-classification", NAME, folder, instances=instances))


def copy_release(root: Path, source: int, target: int) -> None:
    """Publish a release once more under another number."""
    repository = Repository(root)
    for folder in repository.folders(NAME):
        shutil.copytree(folder / str(source), folder / str(target))
    sign(root, target)


def sign(root: Path, release: int) -> None:
    """Let a release's manifests agree with whatever its files hold now, as a faulty exporter would."""
    repository = Repository(root)
    folders = [folder / str(release) for folder in repository.folders(NAME)]
    paths = [path for folder in folders for path in folder.iterdir() if path.name != MANIFEST_NAME]
    files = {f"{path.parent.parent.name}/{path.name}": sha256_of(path) for path in paths}
    manifest = replace(repository.manifest(NAME, release), release=release, files=files)
    for folder in folders:
        (folder / MANIFEST_NAME).write_bytes(manifest.to_json())
