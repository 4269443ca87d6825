"""A release never changes after it was published: every byte of it is held against the hashes in its manifest."""

from pathlib import Path

from text_runtime.manifest import FILE_NAME, Manifest, sha256_of
from text_runtime.plan import BUILT_FILES
from trireme.contract.repository import Repository
from trireme.errors import IntegrityError


def verify_release(repository: Repository, pipeline: str, release: int) -> Manifest:
    """Compare a release on disk with its manifest; gives the manifest.

    Raises:
        RepositoryError: there is no such release.
        IntegrityError: a file is missing, was changed, or was added.
    """
    manifest = repository.manifest(pipeline, release)
    folders = [folder / str(release) for folder in repository.folders(pipeline)]
    _compare_manifests(folders, pipeline, release)
    found = {f"{folder.parent.name}/{path.name}": path for folder in folders for path in _files(folder)}
    for name in sorted(manifest.files.keys() | found.keys()):
        if name not in found:
            raise IntegrityError(pipeline, release, name, "is missing")
        if name not in manifest.files:
            raise IntegrityError(pipeline, release, name, "is not in the manifest")
        if sha256_of(found[name]) != manifest.files[name]:
            raise IntegrityError(pipeline, release, name, "was changed")
    return manifest


def _files(folder: Path) -> list[Path]:
    """All but the manifest, and the plan that was built beside the release; see `trireme.contract.plans`."""
    known = {folder / name for name in (FILE_NAME, *BUILT_FILES)}
    return [path for path in folder.rglob("*") if path.is_file() and path not in known]


def _compare_manifests(folders: list[Path], pipeline: str, release: int) -> None:
    """All folders of a release hold one and the same manifest, so a changed copy gives itself away."""
    whole = (folders[-1] / FILE_NAME).read_bytes()
    for folder in folders[:-1]:
        path = folder / FILE_NAME
        if not path.is_file() or path.read_bytes() != whole:
            raise IntegrityError(pipeline, release, f"{folder.parent.name}/{FILE_NAME}", "is missing or was changed")
