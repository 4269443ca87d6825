"""A release that writes nonsense: another one's files, with the rows of its embeddings in disorder."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from text_runtime.golden import FILE_NAME as GOLDEN_NAME
from text_runtime.golden import GoldenRequests, read_golden
from text_runtime.manifest import FILE_NAME, sha256_of
from trireme.contract.repository import Repository


def add_nonsense(root: Path, pipeline: str, has_own_golden: bool = True) -> int:
    """Publish it as the next release; gives its number. Without golden answers of its own it has those of release 1."""
    repository = Repository(root)
    release = max(repository.releases(pipeline)) + 1
    folders = [folder / str(release) for folder in repository.folders(pipeline)]
    for folder in folders:
        shutil.copytree(folder.parent / "1", folder)
    _disorder(folders[0] / "openvino_model.bin")
    if has_own_golden:
        golden = read_golden(folders[-1])
        nothing = GoldenRequests(golden.columns, golden.outputs, 1.0)
        (folders[-1] / GOLDEN_NAME).write_bytes(nothing.to_json())
    files = {
        f"{folder.parent.name}/{path.name}": sha256_of(path)
        for folder in folders
        for path in folder.iterdir()
        if path.name != FILE_NAME
    }
    manifest = replace(repository.manifest(pipeline, 1), release=release, files=files)
    for folder in folders:
        (folder / FILE_NAME).write_bytes(manifest.to_json())
    return release


def _disorder(weights: Path) -> None:
    """Shuffle blocks of bytes in the last half of the file, where no table of sizes lies."""
    content = np.fromfile(weights, dtype=np.uint8)
    half = content[len(content) // 2 :]
    blocks = half[: len(half) // 4096 * 4096].reshape(-1, 4096)
    np.random.default_rng(0).shuffle(blocks)
    content.tofile(weights)
