"""The releases that Trireme built, among the versions of any model."""

from collections.abc import Iterator
from pathlib import Path

from text_runtime.manifest import EncoderManifest, Manifest, read_manifest
from trireme.serving.check.model import Model


def releases_of(model: Model) -> Iterator[tuple[Path, Manifest]]:
    """The folder of each version with its manifest, where it has one that can be read."""
    for folder in model.versions.values():
        if has_manifest(folder):
            yield folder, read_manifest(folder)


def encoder_releases_of(model: Model) -> Iterator[tuple[Path, EncoderManifest]]:
    """The same, of the encoder family alone."""
    for folder, manifest in releases_of(model):
        if isinstance(manifest, EncoderManifest):
            yield folder, manifest


def has_manifest(folder: Path) -> bool:
    """Whether a version's folder holds a manifest that can be read."""
    try:
        read_manifest(folder)
    except (ValueError, OSError):
        return False
    return True
