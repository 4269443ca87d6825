"""What an MLflow model registry says of a pipeline, and the process that brings it there: see `mirror`.

A pipeline is a registered model, a release one of its versions. MLflow counts versions by itself, so the release's
number, with the facts of its manifest, is a tag. The alias `champion` is the release that answers; `challenger` the one
in a canary, or else the one that was staged last.
"""

import fcntl
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from text_runtime.manifest import FILE_NAME, Manifest, sha256_of
from trireme.errors import MissingLibraryError
from trireme.promotion.ledger import Entry
from trireme.promotion.spec import PromotionSpec

CHAMPION, CHALLENGER = "champion", "challenger"
_RELEASE, _SHA256 = "release", "manifest_sha256"
_LOCK_NAME = "mirror.lock"


@dataclass(frozen=True)
class Registered:
    """What the registry shall say: the tags of every release on disk, and the release behind each alias."""

    pipeline: str
    tags: dict[int, dict[str, str]]
    aliases: dict[str, int | None]


def registered(spec: PromotionSpec) -> Registered:
    """What is true now."""
    layout, repository = spec.disk.layout(), spec.disk.repository
    challenger = layout.traffic.candidate or staged_last(spec.ledger.entries())
    if challenger == layout.traffic.current or challenger not in layout.loaded:
        challenger = None
    aliases = {CHAMPION: layout.traffic.current, CHALLENGER: challenger}
    folder = repository.pipeline_folder(spec.pipeline)
    tags = {
        release: tags_of(repository.manifest(spec.pipeline, release))
        | {_SHA256: sha256_of(folder / str(release) / FILE_NAME), "loaded": str(release in layout.loaded).lower()}
        for release in repository.releases(spec.pipeline)
    }
    return Registered(spec.pipeline, tags, aliases)


def staged_last(entries: Sequence[Entry]) -> int | None:
    """The release that was staged or tried last, and neither promoted, rolled back nor retired since."""
    waiting: list[int] = []
    for entry in entries:
        if entry.outcome != "done" or entry.evidence.get("mirror"):
            continue  # what ends the mirroring of requests decides nothing
        moved = entry.source if entry.command in ("rollback", "retire") else entry.target
        if entry.command in ("stage", "canary", "promote", "rollback", "retire") and moved is not None:
            waiting = [release for release in waiting if release != moved]
        if entry.command in ("stage", "canary") and moved is not None:
            waiting.append(moved)
    return waiting[-1] if waiting else None


def tags_of(manifest: Manifest) -> dict[str, str]:
    """The facts of a manifest that a person compares releases by."""
    facts = {
        _RELEASE: manifest.release,
        "task": manifest.task,
        "created_at": manifest.created_at,
        "trireme_version": manifest.trireme_version,
        "source": manifest.source.name,
        "architecture": manifest.source.architecture,
        "engine": manifest.network.engine,
        "precision": manifest.network.precision,
        "max_length": manifest.longest,
    }
    gates = {f"gate.{row.gate}": f"{row.status}: {row.detail}" for row in manifest.gates}
    return {name: str(fact) for name, fact in facts.items()} | gates


def bring(client: Any, wanted: Registered) -> None:
    """Bring a registry there through an `MlflowClient`. Nothing is written where nothing changes."""
    _create_model(client, wanted.pipeline)
    versions = _versions(client, wanted)
    for release, tags in wanted.tags.items():
        if release not in versions:
            source = f"trireme:/{wanted.pipeline}/{release}"
            versions[release] = client.create_model_version(wanted.pipeline, source, tags=tags)
        for name, text in tags.items():
            if versions[release].tags.get(name) != text:
                client.set_model_version_tag(wanted.pipeline, versions[release].version, name, text)
    found = client.get_registered_model(wanted.pipeline).aliases
    for alias, answering in wanted.aliases.items():
        number = None if answering is None else str(versions[answering].version)
        if number is not None and str(found.get(alias)) != number:
            client.set_registered_model_alias(wanted.pipeline, alias, number)
        elif number is None and alias in found:
            client.delete_registered_model_alias(wanted.pipeline, alias)


def _create_model(client: Any, pipeline: str) -> None:
    from mlflow.exceptions import MlflowException

    try:
        client.create_registered_model(pipeline, description="A Trireme pipeline. Its releases are moved by `trireme`.")
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise


def _versions(client: Any, wanted: Registered) -> dict[int, Any]:
    """MLflow's version of each release on disk. A release exported afresh under an old number is another version."""
    found = client.search_model_versions(f"name='{wanted.pipeline}'")
    by_hash = {(version.tags.get(_RELEASE), version.tags.get(_SHA256)): version for version in found}
    keys = {release: (str(release), tags[_SHA256]) for release, tags in wanted.tags.items()}
    return {release: by_hash[key] for release, key in keys.items() if key in by_hash}


def main(pipeline: str, repository: str, ledgers: str) -> int:
    """Bring the registry that the environment names to what is true now; the reason of a failure goes to stderr."""
    spec = PromotionSpec(pipeline, Path(repository), ledgers=Path(ledgers))
    try:
        client = _client(os.environ["TRIREME_MLFLOW"])
        with (spec.folder / _LOCK_NAME).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # whoever comes last writes the latest
            bring(client, registered(spec))
    except Exception as error:  # whatever it is, it is MLflow's, and the mirror's to report
        sys.stderr.write(f"\n{_gist(error)}\n")
        return 1
    return 0


def _client(uri: str) -> Any:
    try:
        from mlflow import MlflowClient
    except ImportError as error:
        raise MissingLibraryError("mlflow-skinny", "mlflow") from error
    return MlflowClient(tracking_uri=uri, registry_uri=uri)


def _gist(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
